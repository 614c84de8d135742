package wrap

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/alecthomas/kong"

	"outlast/cmd/outlast/internal/exit"
	"outlast/internal/environ"
)

// IdempotencyFlags say by which key the server knows the write again.
type IdempotencyFlags struct {
	IdempotencyKey      IdempotencyKey `placeholder:"KEY" help:"Replace {idempotency-key} in the command by a generated key; =KEY gives your own."`
	IdempotencyHonoured *time.Duration `placeholder:"DURATION" help:"How long the server remembers the key; allows the write to be repeated."`
}

// IdempotencyKey is a flag that can stand alone.
type IdempotencyKey struct {
	On  bool
	Key string // "": one is made
}

// Decode takes the flag with or without a value.
func (k *IdempotencyKey) Decode(ctx *kong.DecodeContext) error {
	k.On = true
	if ctx.Scan.Peek().Type != kong.FlagValueToken {
		return nil
	}
	k.Key = fmt.Sprint(ctx.Scan.Pop().Value)
	if k.Key == "" || len(k.Key) > maxIdempotencyKey || strings.ContainsFunc(k.Key, func(r rune) bool { return r > unicode.MaxASCII || r <= ' ' || r == 0x7f }) {
		return fmt.Errorf("expected 1 to %d printable ASCII characters without spaces, not %.60q", maxIdempotencyKey, k.Key)
	}
	return nil
}

// IsBool says that no value has to follow.
func (k *IdempotencyKey) IsBool() bool { return true }

// maxIdempotencyKey is what common servers take (255 is Stripe's limit).
const maxIdempotencyKey = 255

// How the command gets the key.
const (
	idempotencyMark = "{idempotency-key}"
	idempotencyVar  = "OUTLAST_IDEMPOTENCY_KEY"
)

// isHonoured says that the call's key makes a second request as good as none.
func (f *IdempotencyFlags) isHonoured() bool {
	return f.IdempotencyKey.On && f.IdempotencyHonoured != nil
}

// chooseKey chooses the call's key, and lets a write be repeated where the
// server honours that. The key must reach the server: a command whose lines are
// known reads no variable of outlast's.
func (p *Plan) chooseKey(f *IdempotencyFlags, random string) error {
	if !f.IdempotencyKey.On {
		return nil
	}
	if p.IdempotencyKey = f.IdempotencyKey.Key; p.IdempotencyKey == "" {
		p.IdempotencyKey = random
	}
	if !p.writes() {
		return nil
	}
	placed := strings.Contains(strings.Join(p.Argv, "\x00"), idempotencyMark)
	if !placed && p.Command.Name != "" {
		return exit.Usage("--idempotency-key: %s must be told the key: put %s where it belongs, such as -H 'Idempotency-Key: %[2]s'", label(p.Argv[0]), idempotencyMark)
	}
	if f.IdempotencyHonoured == nil {
		return nil
	}
	return p.repeatWithKey(*f.IdempotencyHonoured)
}

// repeatWithKey lets no attempt reach the server after it has forgotten the key.
// Half of the time for the call leaves the other half to the last attempt (a
// choice).
func (p *Plan) repeatWithKey(honoured time.Duration) error {
	switch {
	case p.Call.Budget == 0:
		p.Call.Budget = max(honoured/2, time.Microsecond)
	case p.Call.Budget >= honoured:
		return exit.Usage("--idempotency-honoured: expected longer than the call's budget of %v, not %v: an attempt after it would be another write", p.Call.Budget, honoured)
	}
	p.Call.Repeatable, p.Call.OneRequest = true, nil
	p.Journal.Honoured = honoured - p.Call.Budget // the last attempt of this call must still meet the key
	return nil
}

// withKey is a command line and environment with the key of the call, if there is
// one, for whoever runs it: the mark itself would be one key for every call.
func withKey(argv, env []string, key string) (keyed, environment []string) {
	if key == "" {
		return argv, env
	}
	for _, arg := range argv {
		keyed = append(keyed, strings.ReplaceAll(arg, idempotencyMark, key))
	}
	return keyed, environ.With(env, idempotencyVar, key)
}
