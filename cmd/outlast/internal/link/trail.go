package link

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// TrailVar is the environment variable in which a link tells the links that its
// command may call what it ran.
const TrailVar = "OUTLAST_LINK"

// maxRounds is how often in a row a link may run the same program from inside
// itself (a choice: more than a command that calls itself needs).
const maxRounds = 8

// Trail is what links above this one ran last, and how often in a row. A script
// on PATH that is named as the command and calls the command by its name would
// else get the link, and the link the script, for ever.
type Trail struct {
	rounds  int
	program string
}

// ReadTrail reads the variable's value; what is no trail is an empty one.
func ReadTrail(value string) Trail {
	rounds, program, _ := strings.Cut(value, " ")
	n, err := strconv.Atoi(rounds)
	if err != nil || n < 0 || n > maxRounds {
		return Trail{}
	}
	return Trail{n, program}
}

// Env is environ, which stays as it is, for the program that is run next.
func (t Trail) Env(environ []string, program string) []string {
	if t.program != program {
		t = Trail{program: program}
	}
	env := slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		return strings.HasPrefix(entry, TrailVar+"=")
	})
	return append(env, fmt.Sprintf("%s=%d %s", TrailVar, min(t.rounds+1, maxRounds), program))
}

func (t Trail) circles(program string) bool {
	return t.program == program && t.rounds >= maxRounds
}
