package omnigraph

import (
	"runtime"
	"strings"
)

// TokenVar is the environment variable from which omnigraph takes the bearer
// token for a server that its configuration has none for.
const TokenVar = "OMNIGRAPH_BEARER_TOKEN"

// Env is the environment for one call, made of environ, which it leaves as it
// is. A call to a server gets the token, or keeps what environ has if token is
// "". A store that is opened directly needs none and gets none. All else keeps
// what it has.
func Env(environ []string, inv Invocation, token string) []string {
	direct := inv.Store != ""
	replaced := inv.Remote && token != ""
	env := make([]string, 0, len(environ)+1)
	for _, entry := range environ {
		if !(direct || replaced) || !isToken(entry) {
			env = append(env, entry)
		}
	}
	if replaced {
		env = append(env, TokenVar+"="+token)
	}
	return env
}

func isToken(entry string) bool {
	name, _, _ := strings.Cut(entry, "=")
	if runtime.GOOS == "windows" {
		return strings.EqualFold(name, TokenVar)
	}
	return name == TokenVar
}
