package main

import (
	"crypto/rand"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/alecthomas/kong"
)

type idempotencyFlags struct {
	IdempotencyKey      idempotencyKey `placeholder:"KEY" help:"For {idempotency-key} in the command."`
	IdempotencyHonoured *time.Duration `placeholder:"DURATION" help:"By the server: repeat the write."`
}

// idempotencyKey is a flag that can stand alone.
type idempotencyKey struct {
	On  bool
	Key string // "": one is made
}

// Decode takes the flag with or without a value.
func (k *idempotencyKey) Decode(ctx *kong.DecodeContext) error {
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
func (k *idempotencyKey) IsBool() bool { return true }

// maxIdempotencyKey is what common servers take (255 is Stripe's limit).
const maxIdempotencyKey = 255

// How the command gets the key.
const (
	idempotencyMark = "{idempotency-key}"
	idempotencyVar  = "OUTLAST_IDEMPOTENCY_KEY"
)

// isHonoured says that the call's key makes a second request as good as none.
func (f *idempotencyFlags) isHonoured() bool {
	return f.IdempotencyKey.On && f.IdempotencyHonoured != nil
}

// prepareKey chooses the call's key, and lets the call be repeated where the
// server honours that. The key must reach the server: a command whose lines are
// known reads no variable of ours.
func (w *wrapped) prepareKey() error {
	v := w.verb
	if !v.IdempotencyKey.On || !w.writes() {
		return nil
	}
	placed := strings.Contains(strings.Join(w.argv, "\x00"), idempotencyMark)
	if !placed && commandName(w.argv[0]) != "" {
		return usageError("--idempotency-key: %s must be told the key: put %s where it belongs, such as -H 'Idempotency-Key: %[2]s'", label(w.argv[0]), idempotencyMark)
	}
	w.idempotencyKey = v.IdempotencyKey.Key
	if w.idempotencyKey == "" {
		w.idempotencyKey = rand.Text()
	}
	honoured := v.IdempotencyHonoured
	if honoured == nil {
		return nil
	}
	// No attempt may reach the server after it has forgotten the key. Half of the
	// time for the call leaves the other half to the last attempt (a choice).
	switch {
	case w.call.Budget == 0:
		w.call.Budget = max(*honoured/2, time.Microsecond)
	case w.call.Budget >= *honoured:
		return usageError("--idempotency-honoured: expected longer than the call's budget of %v, not %v: an attempt after it would be another write", w.call.Budget, *honoured)
	}
	w.call.Repeatable, w.call.OneRequest = true, nil
	return nil
}

// placeKey gives the command the key of the call, or that of the journal.
func (w *wrapped) placeKey() {
	if w.idempotencyKey == "" {
		return
	}
	if w.journal != nil && w.journal.IdempotencyKey() != "" {
		w.idempotencyKey = w.journal.IdempotencyKey()
	}
	argv := make([]string, len(w.argv))
	for i, arg := range w.argv {
		argv[i] = strings.ReplaceAll(arg, idempotencyMark, w.idempotencyKey)
	}
	w.argv = argv
	w.env = append(w.env[:len(w.env):len(w.env)], idempotencyVar+"="+w.idempotencyKey)
}
