// Package config finds the settings of outlast run where its flags do not give
// them: in the environment, then in the user's file, then in the system's. A
// file in the current directory is never looked at: a folder that was unpacked
// must not change how a write is repeated.
package config

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"outlast/cmd/outlast/internal/policyflags"
	"outlast/journal"
	"outlast/ready"
)

// places are where a setting may come from, beside its flag.
type places int

const (
	inEnv     places = 1 << iota // OUTLAST_<NAME>
	inFile                       // the top of a file: for every command
	inCommand                    // a file's commands.<NAME>: for that command
	anywhere  = inEnv | inFile | inCommand
)

// scalar is how YAML may write a setting, as a set.
type scalar int

const (
	aText scalar = 1 << iota
	aNumber
	aTruth
	aList // of texts and numbers
)

// setting is a flag of outlast run that need not be given as one.
type setting struct {
	name   string
	places places
	form   scalar
	want   string // what would be right
	// read checks one text and gives it as the flag takes it.
	read func(o *origin, text string) (string, error)
}

// origin is where a text comes from, for what depends on it.
type origin struct {
	file     bool // not the environment
	home     string
	policies []string
}

// quote is a text for a message.
func (s *setting) quote(text string) string {
	return fmt.Sprintf("%.60q", Shown(s.name, text))
}

// show is a value in a file, for a message.
func (s *setting) show(n ast.Node) string {
	if text, ok := n.(*ast.StringNode); ok {
		return s.quote(text.Value)
	}
	return show(n)
}

// Shown is a setting's text without what may be a secret in it.
func Shown(name, text string) string {
	if name == "ready" {
		return ready.Shown(text)
	}
	return text
}

// settings are all of them, in the order in which they are shown.
//
// What one command is, such as a read, is said by that command's flags or its
// section of a file, and by nothing that holds for every command: there it
// would have a write repeated.
var settings = []setting{
	{"policy", anywhere, aText, "a built-in policy's name, or a file's absolute path", readPolicy},
	{"policy-dir", anywhere, aText, "a directory's absolute path", readPath},
	{"max-wait", anywhere, aText, "a positive duration with a unit, such as 150s", readDuration},
	{"spread", anywhere, aText, "a positive duration up to 1h with a unit, such as 5s", readSpread},
	{"call-budget", anywhere, aText, "a positive duration with a unit, such as 5m", readDuration},
	{"attempt-timeout", anywhere, aText, "a positive duration with a unit, such as 30s", readDuration},
	{"kill-after", anywhere, aText, "a positive duration with a unit, such as 10s", readDuration},
	{"exhausted-code", anywhere, aNumber, "a number from 1 to 255", readNumber(1, 255)},
	{"indeterminate-code", anywhere, aNumber, "a number from 1 to 255", readNumber(1, 255)},
	{"stdin", anywhere, aText, "replay, pass or none", readOneOf("replay", "pass", "none")},
	{"journal", anywhere, aText, "a directory's absolute path", readPath},
	{"journal-key", inEnv, aText, "1 to 256 bytes of printable text", readJournalKey},
	{"log-format", anywhere, aText, "text or json", readOneOf("text", "json")},
	{"events", anywhere, aText, "a file's absolute path", readPath},
	{"report", anywhere, aText, "a file's absolute path", readPath},
	{"metrics-file", anywhere, aText, "a file's absolute path", readPath},
	{"quiet", anywhere, aTruth, "true or false", readTruth},
	{"verbose", anywhere, aTruth, "true or false", readTruth},

	{"retry-exit", inEnv | inCommand, aText | aNumber | aList, "exit codes and ranges of them, such as 7,28,100-110", readExits},
	{"retry-stderr", inEnv | inCommand, aText | aList, "texts of 1 to 1000 bytes", readText},
	{"attempts", inEnv | inCommand, aNumber, "a number from 1 to 10000", readNumber(1, 10_000)},
	{"backoff", inEnv | inCommand, aText, "a delay such as 1s, or delays that grow such as 0.5s..10s*2", readBackoff},

	{"read", inCommand, aTruth, "true or false", readTruth},
	{"write", inCommand, aTruth, "true or false", readTruth},
	{"repeatable", inCommand, aTruth, "true or false", readTruth},
	{"remote", inCommand, aTruth, "true or false", readTruth},
	{"local", inCommand, aTruth, "true or false", readTruth},
	{"wrapper", inCommand, aText | aList, "absolute paths of scripts that run the command once", readPath},
	{"surface-conflict", inCommand, aTruth, "true or false", readTruth},
	{"no-connect-retry", inCommand, aTruth, "true or false", readTruth},

	{"idempotency-honoured", inCommand, aText, "a positive duration with a unit, such as 24h", readDuration},
	{"ready", inEnv | inCommand, aText, "auto, off, tcp://HOST:PORT or a URL", readReady},
	{"plugin", inEnv, aText, "a file's path", readPath},
	{"drive", inEnv, aText, "host or plugin", readOneOf("host", "plugin")},
	{"seed", inEnv, aNumber, "a number from 0 to 2^53-1", readNumber(0, 1<<53-1)},
	{"rules", inEnv | inFile, aText, "keep or allow", readOneOf("keep", "allow")}, // of policy pull
	{"repair-force", 0, aTruth, "true or false", readTruth},
}

// exclusive are settings that exclude one another, by side: the nearest source
// that gives one of them takes the place of the other sides.
var exclusive = [][][]string{
	{{"read"}, {"write"}, {"repeatable"}},
	{{"remote"}, {"local"}},
	{{"max-wait"}, {"attempts"}},
	{{"policy"}, {"retry-exit", "retry-stderr", "attempts", "backoff"}},
	{{"quiet"}, {"verbose"}},
}

// rivals are the settings that exclude this one.
func rivals(name string) (list []string) {
	for _, sides := range exclusive {
		own := slices.IndexFunc(sides, func(side []string) bool { return slices.Contains(side, name) })
		for i, side := range sides {
			if own >= 0 && i != own {
				list = append(list, side...)
			}
		}
	}
	return list
}

func find(name string) *setting {
	i := slices.IndexFunc(settings, func(s setting) bool { return s.name == name })
	if i < 0 {
		return nil
	}
	return &settings[i]
}

// Names are the settings in the order in which they are shown.
func Names() (names []string) {
	for _, s := range settings {
		names = append(names, s.name)
	}
	return names
}

// variable is the setting's name in the environment.
func (s *setting) variable() string {
	return prefix + strings.ToUpper(strings.ReplaceAll(s.name, "-", "_"))
}

// prefix is that of every variable of outlast's.
const prefix = "OUTLAST_"

var errForm = errors.New("")

func readDuration(_ *origin, text string) (string, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < time.Microsecond {
		return "", errForm
	}
	return text, nil
}

func readSpread(o *origin, text string) (string, error) {
	if d, err := time.ParseDuration(text); err != nil || d > policyflags.MaxSpread {
		return "", errForm
	}
	return readDuration(o, text)
}

func readNumber(low, high int64) func(*origin, string) (string, error) {
	return func(_ *origin, text string) (string, error) {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < low || n > high {
			return "", errForm
		}
		return strconv.FormatInt(n, 10), nil
	}
}

func readOneOf(words ...string) func(*origin, string) (string, error) {
	return func(_ *origin, text string) (string, error) {
		if !slices.Contains(words, text) {
			return "", errForm
		}
		return text, nil
	}
}

func readReady(_ *origin, text string) (string, error) {
	if _, err := ready.Parse(text); err != nil {
		return "", errForm
	}
	return text, nil
}

// readTruth reads what a shell's users write. In a file only true and false
// come this far.
func readTruth(_ *origin, text string) (string, error) {
	switch strings.ToLower(text) {
	case "true", "yes", "1":
		return "true", nil
	case "false", "no", "0":
		return "false", nil
	}
	return "", errForm
}

// readPath takes no relative path from a file: it would mean another file in
// every directory. A variable is set for one place, as a flag is.
func readPath(o *origin, text string) (string, error) {
	switch rest, inHome := strings.CutPrefix(text, "~/"); {
	case text == "":
		return "", errForm
	case !o.file:
		return text, nil
	case inHome && o.home != "":
		return joinHome(o.home, rest), nil
	case isAbsolute(text):
		return text, nil
	}
	return "", errForm
}

func readPolicy(o *origin, text string) (string, error) {
	if slices.Contains(o.policies, text) {
		return text, nil
	}
	path, err := readPath(o, text)
	if err != nil && len(o.policies) > 0 {
		err = fmt.Errorf("the built-in policies are %s", strings.Join(o.policies, ", "))
	}
	return path, err
}

func readJournalKey(_ *origin, text string) (string, error) {
	_, err := journal.Given(text)
	return text, asForm(err)
}

func readExits(_ *origin, text string) (string, error) {
	_, err := policyflags.ParseExits(text)
	return text, asForm(err)
}

func readBackoff(_ *origin, text string) (string, error) {
	_, err := policyflags.ParseBackoff(text)
	return text, asForm(err)
}

func readText(_ *origin, text string) (string, error) {
	return text, asForm(policyflags.CheckText(text))
}

// asForm keeps only why a text was refused: what would be right is in want.
func asForm(err error) error {
	if why := errors.Unwrap(err); why != nil {
		return why
	}
	if err != nil {
		return errForm
	}
	return nil
}
