package wrap

import (
	"strings"

	"outlast/commands/omnigraph"
	"outlast/internal/environ"
)

// AttemptVar and elapsedVar tell the command which attempt it is, counted from
// 1, and how many milliseconds after the start of the call it began. heldVar has
// the journal's records that the outlasts around it hold.
const (
	AttemptVar = "OUTLAST_ATTEMPT"
	elapsedVar = "OUTLAST_ELAPSED_MS"
	heldVar    = "OUTLAST_JOURNAL_HELD"
	offVar     = "OUTLAST_OFF"
)

// IsInside says whether an outlast runs this one, or the program that runs it:
// the outer one decides what is run again.
func IsInside(env []string) bool { return environ.Get(env, AttemptVar) != "" }

// IsSwitchedOff says whether the user wants outlast to do nothing.
func IsSwitchedOff(env []string) bool {
	switch strings.ToLower(environ.Get(env, offVar)) {
	case "", "0", "false", "no":
		return false
	}
	return true
}

// held are the records that the outlasts around this one hold.
func held(env []string) []string {
	if list := environ.Get(env, heldVar); list != "" {
		return strings.Split(list, ",")
	}
	return nil
}

// secrets are the values in an environment that no text of outlast's may have.
func secrets(env []string) (list []string) {
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		if value != "" && (name == omnigraph.TokenVar || strings.HasPrefix(name, "OMNIGRAPH_TOKEN_")) {
			list = append(list, value)
		}
	}
	return list
}
