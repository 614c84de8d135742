package wrap

import (
	"strings"

	"outlast/commands/omnigraph"
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
func IsInside(env []string) bool { return variable(env, AttemptVar) != "" }

// IsSwitchedOff says whether the user wants outlast to do nothing.
func IsSwitchedOff(env []string) bool {
	switch strings.ToLower(variable(env, offVar)) {
	case "", "0", "false", "no":
		return false
	}
	return true
}

// held are the records that the outlasts around this one hold.
func held(env []string) []string {
	if list := variable(env, heldVar); list != "" {
		return strings.Split(list, ",")
	}
	return nil
}

// variable is one of an environment as os.Environ gives it, which has each once.
func variable(env []string, name string) string {
	for _, entry := range env {
		if text, ok := strings.CutPrefix(entry, name+"="); ok {
			return text
		}
	}
	return ""
}

// with is an environment and one variable more; the list that is given stays as
// it is.
func with(env []string, name, text string) []string {
	return append(env[:len(env):len(env)], name+"="+text)
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
