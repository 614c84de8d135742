package omnigraph

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"outlast/internal/environ"
)

// What in the environment says where a command goes.
const (
	homeVar    = "OMNIGRAPH_HOME"    // the folder of the user's configuration
	profileVar = "OMNIGRAPH_PROFILE" // a profile of it
)

// Server is the URL of the server that a command line with this environment goes
// to, the root at which the server's own paths begin; "" if it goes to none, or
// if that cannot be told, and then why. The URL may hold a user name and
// password; the reason does not.
//
// The rules are those of omnigraph, in this order: an address on the command
// line, of which there may be one; --profile; what .omnigraph/context of the
// working directory has, of some commands and without --direct; the variable
// OMNIGRAPH_PROFILE; defaults.server. The last four are in the configuration of
// the user, ~/.omnigraph/config.yaml or config.yaml in OMNIGRAPH_HOME, as names
// under servers and profiles; a server may be a URL too.
func Server(argv, env []string) (url, why string) {
	p := parsed(argv)
	url, err := p.serverURL(env)
	if err != nil {
		return "", err.Error()
	}
	return url, ""
}

func (p *parser) serverURL(env []string) (string, error) {
	switch {
	case p.ways() > 1:
		return "", fmt.Errorf("the command line has more than one address")
	case p.server.given:
		return config{env}.server("--server", p.server.value)
	case p.ways() > 0 && !p.inv.Remote:
		return "", nil // what it opens is not a server
	case p.ways() > 0:
		return "", fmt.Errorf("the command's address is not that of a server")
	case !p.inv.Remote, strings.HasPrefix(p.inv.Verb, "cluster "):
		return "", nil
	case p.inv.Verb == "alias":
		return "", fmt.Errorf("an alias has a server of its own")
	case p.profile.given:
		return config{env}.profile("--profile", p.profile.value)
	case !p.direct && hasContext(p.inv.Verb):
		return "", fmt.Errorf("%s may say where the command goes", contextFile)
	}
	if name := environ.Get(env, profileVar); name != "" {
		return config{env}.profile(profileVar, name)
	}
	return config{env}.defaults()
}

// contextFile is where a folder says which server some commands go to, by a
// name that is resolved with credentials of the user's.
var contextFile = filepath.Join(".omnigraph", "context")

// hasContext says whether a command heeds the file, and it is there or cannot
// be told not to be.
func hasContext(verb string) bool {
	switch verb {
	case "query", "mutate", "load", "commit list", "commit show":
		_, err := os.Lstat(contextFile)
		return !os.IsNotExist(err)
	}
	return false
}

// lookup is a variable's value; the last one counts.
