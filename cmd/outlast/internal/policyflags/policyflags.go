// Package policyflags makes a policy from flags, for a command that no policy knows.
package policyflags

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"outlast/abi"
	"outlast/cmd/outlast/internal/words"
	"outlast/host"
)

// DefaultMaxWait is the window where neither --attempts nor --max-wait is
// given: that of the built-in policy omnigraph, which outlasts the measured
// restarts of 52 s and 61 s.
const DefaultMaxWait = 150 * time.Second

// The spread of woken callers, and its bound.
const (
	defaultSpread = 30 * time.Millisecond // that of the built-in policy omnigraph
	MaxSpread     = host.MaxSpread
)

// Bounds of a policy document's words (see abi/ABI.md).
const (
	maxTexts     = 200
	maxTextBytes = 1_000
)

// Flags say what is retried and how. Without an exit code and a text, every
// failure is; with several, each of them.
type Flags struct {
	RetryExit   *string  `placeholder:"LIST" help:"Retry after these exit codes: 7,28,100-110."`
	RetryStderr []string `sep:"none" placeholder:"TEXT" help:"Retry if stderr has this text (may be repeated)."`
	Attempts    *int64   `placeholder:"N" help:"Number of attempts in all, instead of --max-wait."`
	Backoff     *string  `placeholder:"DELAYS" help:"Wait between: 1s; 0.5s..10s, doubled; 0.5s..10s*1.5."`
	Repeatable  bool     `group:"command" xor:"what" help:"It may change something, and be run again all the same."`
}

// DescribesPolicy says whether a policy is to be made. Repeatable alone says nothing of
// what is retried, so it does not ask for one.
func (f *Flags) DescribesPolicy() bool { return len(f.Names()) > 0 }

// Names are the flags that are given and ask for a policy.
func (f *Flags) Names() (names []string) {
	for _, flag := range []struct {
		name  string
		given bool
	}{
		{"--retry-exit", f.RetryExit != nil},
		{"--retry-stderr", len(f.RetryStderr) > 0},
		{"--attempts", f.Attempts != nil},
		{"--backoff", f.Backoff != nil},
	} {
		if flag.given {
			names = append(names, flag.name)
		}
	}
	return names
}

// Call is what else a policy depends on.
type Call struct {
	Read    bool           // the command changes nothing
	MaxWait *time.Duration // --max-wait; nil: not given
	Spread  *time.Duration // --spread
}

// Policy is the policy that the flags describe. It never retries a call that
// is declared a write: a repeatable one is given to it as a read.
//
// The error names the flag, its value and what would be right: it is one of
// usage.
func (f *Flags) Policy(call Call) (*host.Policy, error) {
	text, err := f.Document(call)
	if err != nil {
		return nil, err
	}
	p, err := host.ParsePolicy(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", strings.Join(f.Names(), ", "), err)
	}
	return p, nil
}

// Document is the same policy as a document in JSON.
func (f *Flags) Document(call Call) (string, error) {
	if !call.Read && !f.Repeatable {
		return "", fmt.Errorf("%s: say --read if the command changes nothing, or --repeatable if it may be run again all the same: else a write could be applied twice",
			strings.Join(f.Names(), ", "))
	}
	budget, err := f.budget(call)
	if err != nil {
		return "", err
	}
	when, err := f.conditions()
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(document(budget, when))
	return string(text), err
}

// budget is the one that all retries count on: one limit decides.
func (f *Flags) budget(call Call) (object, error) {
	backoff := defaultBackoff
	if f.Backoff != nil {
		var err error
		if backoff, err = ParseBackoff(*f.Backoff); err != nil {
			return nil, fmt.Errorf("--backoff: %w", err)
		}
	}
	budget := object{"backoff": backoff.object()}
	switch {
	case f.Attempts != nil && call.MaxWait != nil:
		return nil, errors.New("--attempts and --max-wait: one limit decides, so give one of them; to bound the time of so many attempts, give --call-budget, which counts from the start of the call")
	case f.Attempts != nil:
		if *f.Attempts < 1 || *f.Attempts > abi.MaxAttempts {
			return nil, fmt.Errorf("--attempts: expected a number from 1 to %d, the first attempt included, not %d", abi.MaxAttempts, *f.Attempts)
		}
		budget["attempts"] = *f.Attempts
	default:
		window := words.Or(call.MaxWait, DefaultMaxWait)
		if err := checkDuration(window); err != nil {
			return nil, fmt.Errorf("--max-wait: expected a positive duration such as 150s, not %v: %w", window, err)
		}
		budget["max_wait"] = micros(window)
		// As the built-in policy omnigraph has it: for --ready.
		budget["wake"] = object{"reads": "accepting", "writes": "ready", "spread": micros(words.Or(call.Spread, defaultSpread)), "spread_multiplier": 64, "spread_late": "75s", "hold_off": "1s", "max_vain": 3}
	}
	return budget, nil
}

// conditions are what is retried, each on its own; none means every failure.
func (f *Flags) conditions() ([]object, error) {
	var when []object
	if f.RetryExit != nil {
		codes, err := ParseExits(*f.RetryExit)
		if err != nil {
			return nil, fmt.Errorf("--retry-exit: %w", err)
		}
		when = append(when, object{"exit_codes": codes})
		if names := signals(codes); len(names) > 0 {
			when = append(when, object{"signals": names})
		}
	}
	if len(f.RetryStderr) > maxTexts {
		return nil, fmt.Errorf("--retry-stderr: expected at most %d texts, not %d", maxTexts, len(f.RetryStderr))
	}
	for _, text := range f.RetryStderr {
		if err := CheckText(text); err != nil {
			return nil, fmt.Errorf("--retry-stderr: %w", err)
		}
	}
	if len(f.RetryStderr) > 0 {
		when = append(when, object{"text": []object{{"in": "anywhere", "any": f.RetryStderr}}})
	}
	return when, nil
}

// CheckText says what is wrong with a text to look for.
func CheckText(text string) error {
	if text == "" || len(text) > maxTextBytes || !utf8.ValidString(text) {
		return fmt.Errorf("expected a text of 1 to %d bytes in UTF-8, not %d bytes: %.40q", maxTextBytes, len(text), text)
	}
	return nil
}

type object = map[string]any

// document puts the policy together. Kind and budget have the same name, so
// that messages do not tell both.
func document(budget object, when []object) object {
	const kind = "retryable"
	// The policy protects itself: a call that is declared a write is not
	// retried, whoever runs it with this document.
	then := []object{
		{"if": object{"write": false}, "retry": kind},
		{"stop": object{"effects": "unknown"}},
	}
	rules := []object{
		// Only a caller who set --attempt-timeout meets one: to have a hung
		// attempt tried again is what it is for.
		{"kind": "timed_out", "when": []object{{"timed_out": true}}, "then": then},
	}
	if len(when) == 0 {
		rules = append(rules, object{"kind": kind, "then": then})
	} else {
		rules = append(rules,
			object{"kind": kind, "when": when, "then": then},
			object{"kind": "failed", "then": []object{{"stop": object{"effects": "unknown"}}}})
	}
	return object{
		"version": 1, "name": "command-line", "description": "Made from flags.",
		"budgets": object{kind: budget}, "rules": rules,
	}
}
