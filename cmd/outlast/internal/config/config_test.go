package config

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
	"pgregory.net/rapid"
)

// write makes a file that only this user can write.
func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func load(t *testing.T, env []string, files ...string) *Config {
	t.Helper()
	c, err := Load(Options{Env: env, Files: files, Policies: []string{"omnigraph"}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// faultsOf is everything that is wrong with a file.
func faultsOf(t *testing.T, env []string, files ...string) string {
	t.Helper()
	_, err := Load(Options{Env: env, Files: files, Policies: []string{"omnigraph"}})
	var faults *Error
	if err != nil && !errors.As(err, &faults) {
		t.Fatalf("%T is no *Error: %v", err, err)
	}
	if err == nil {
		return ""
	}
	return err.Error()
}

func flags(names ...string) func(string) bool {
	return func(name string) bool { return slices.Contains(names, name) }
}

func expect(t *testing.T, c *Config, command, name string, given func(string) bool, value, where string) {
	t.Helper()
	found, _ := c.Lookup(command, name, given)
	if got := strings.Join(found.Value, "|"); got != value || found.Where != where {
		t.Errorf("%s of %q is %q from %q, not %q from %q", name, command, got, found.Where, value, where)
	}
}

func TestTheNearestSourceWins(t *testing.T) {
	user := write(t, "# mine\nmax-wait: 1s\nquiet: true\ncommands:\n  curl:\n    max-wait: 2s\n    retry-exit: 7,28\n    read: true\n")
	system := write(t, "max-wait: 3s\nkill-after: 4s\ncommands:\n  curl: {kill-after: 5s}\n  psql: {max-wait: 6s}\n")
	c := load(t, nil, user, system)
	expect(t, c, "curl", "max-wait", flags(), "2s", user+":6")
	expect(t, c, "psql", "max-wait", flags(), "1s", user+":2") // the user's file is nearer, whatever the system's says
	expect(t, c, "curl", "kill-after", flags(), "5s", system+":4")
	expect(t, c, "psql", "kill-after", flags(), "4s", system+":2")
	expect(t, c, "curl", "retry-exit", flags(), "7,28", user+":7")
	expect(t, c, "psql", "retry-exit", flags(), "", "")
	expect(t, c, "curl", "read", flags(), "true", user+":8")
	expect(t, c, "", "quiet", flags(), "true", user+":3")
	expect(t, c, "", "events", flags(), "", "")

	c = load(t, []string{"OUTLAST_MAX_WAIT=9s", "OUTLAST_QUIET=0", "OUTLAST_KILL_AFTER="}, user, system)
	expect(t, c, "curl", "max-wait", flags(), "9s", "OUTLAST_MAX_WAIT")
	expect(t, c, "curl", "quiet", flags(), "false", "OUTLAST_QUIET")
	expect(t, c, "curl", "kill-after", flags(), "5s", system+":4") // an empty variable is not set
}

// Settings that exclude each other are one: the nearest of them wins.
func TestANearerRivalWins(t *testing.T) {
	path := write(t, "policy: omnigraph\nmax-wait: 1s\ncommands:\n  curl:\n    attempts: 3\n    read: true\n    local: false\n")
	c := load(t, nil, path)
	expect(t, c, "curl", "attempts", flags(), "3", path+":5")
	expect(t, c, "curl", "max-wait", flags(), "", "") // attempts is in the nearer section
	expect(t, c, "curl", "policy", flags(), "", "")
	expect(t, c, "other", "max-wait", flags(), "1s", path+":2")
	expect(t, c, "curl", "attempts", flags("max-wait"), "", "")
	expect(t, c, "curl", "attempts", flags("policy"), "", "")
	expect(t, c, "curl", "max-wait", flags("policy"), "1s", path+":2") // attempts has gone
	expect(t, c, "curl", "read", flags("write"), "", "")
	expect(t, c, "curl", "read", flags("repeatable"), "", "")
	expect(t, c, "curl", "read", flags("remote"), "true", path+":6")

	c = load(t, []string{"OUTLAST_VERBOSE=no"}, write(t, "quiet: true\n"))
	if found, _ := c.Lookup("", "quiet", flags()); len(found.Value) == 0 {
		t.Error("a rival that is false took a setting's place")
	}
}

func TestValuesAsFlagsTakeThem(t *testing.T) {
	path := write(t, strings.Join([]string{
		"events: ~/e.jsonl", "report: /r", "policy: omnigraph", "exhausted-code: 75", "commands:", "  curl:",
		"    retry-exit: [7, 28, 100-110]", "    retry-stderr:", "      - 'a, b'", "      - |", "        two",
		"        lines", "    backoff: 0.5s..10s*2", "    repeatable: true", "  7z: {retry-exit: 2}", "  wget: {retry-stderr: one}",
	}, "\r\n"))
	c := load(t, []string{"HOME=/home/u", "OUTLAST_METRICS_FILE=here/m.prom", "OUTLAST_LOG_FORMAT=json", "OUTLAST_SEED=7"}, path)
	for _, want := range [][3]string{
		{"curl", "events", "/home/u/e.jsonl"},
		{"curl", "report", "/r"},
		{"curl", "exhausted-code", "75"},
		{"curl", "retry-exit", "7|28|100-110"},
		{"curl", "retry-stderr", "a, b|two\nlines\n"},
		{"curl", "backoff", "0.5s..10s*2"},
		{"curl", "repeatable", "true"},
		{"7z", "retry-exit", "2"},
		{"wget", "retry-stderr", "one"},
		{"", "policy", "omnigraph"},
		{"", "metrics-file", "here/m.prom"},
		{"", "log-format", "json"},
		{"", "seed", "7"},
	} {
		found, _ := c.Lookup(want[0], want[1], flags())
		got := strings.ReplaceAll(strings.Join(found.Value, "|"), "\r", "")
		if got != want[2] {
			t.Errorf("%s of %q is %q, not %q", want[1], want[0], got, want[2])
		}
	}
	c = load(t, []string{"OUTLAST_RETRY_STDERR=one, two\nthree\n"})
	expect(t, c, "x", "retry-stderr", flags(), "one, two|three", "OUTLAST_RETRY_STDERR")
}

func TestFilesWithNothingInThem(t *testing.T) {
	for _, text := range []string{"", "# only a comment\n", "---\n", "\ufeff", "\ufeff# x\n", "commands: {}\n", "commands:\n  curl: {}\n"} {
		if got := faultsOf(t, nil, write(t, text)); got != "" {
			t.Errorf("%q: %s", text, got)
		}
	}
	path := write(t, "\ufeffquiet: true\n")
	expect(t, load(t, nil, path), "", "quiet", flags(), "true", path+":1")
}

func TestBadFiles(t *testing.T) {
	for text, want := range map[string][]string{
		"max-wait: 150":                               {":1: max-wait: expected a positive duration with a unit, such as 150s, not 150"},
		"\nmax-wait: -1s":                             {":2: max-wait: ", `not "-1s"`},
		"max-wait: 0s":                                {`not "0s"`},
		"max-wait:":                                   {"max-wait: ", "not nothing"},
		"max-wait: [1s]":                              {"max-wait: ", "not a list: [1s]"},
		"max-wait: {a: b}":                            {"max-wait: ", "not a mapping"},
		"spread: 2h":                                  {":1: spread: expected a positive duration up to 1h with a unit, such as 5s, not \"2h\""},
		"spread: 0s":                                  {`not "0s"`},
		"max-wait: 1d":                                {`not "1d"`},
		"quiet: yes":                                  {"quiet: expected true or false", `not "yes"`},
		"quiet: \"true\"":                             {"quiet: expected true or false", `not "true"`},
		"quiet: 1":                                    {"not 1"},
		"exhausted-code: 0":                           {"expected a number from 1 to 255, not 0"},
		"exhausted-code: 256":                         {"not 256"},
		"indeterminate-code: 0":                       {"expected a number from 1 to 255, not 0"},
		"exhausted-code: 0x10":                        {"not 0x10"},
		"exhausted-code: 1.5":                         {"not 1.5"},
		"exhausted-code: .inf":                        {"not .inf"},
		"exhausted-code: \"7\"":                       {`not "7"`},
		"stdin: keep":                                 {"expected replay, pass or none", `not "keep"`},
		"log-format: xml":                             {"expected text or json"},
		"events: here.jsonl":                          {"expected a file's absolute path", `not "here.jsonl"`},
		"report: ./r":                                 {"absolute path"},
		"metrics-file: \"\"":                          {"absolute path"},
		"policy: mine.json":                           {"expected a built-in policy's name, or a file's absolute path", "omnigraph"},
		"policy: 7":                                   {"policy: ", "not 7"},
		"max_wait: 1s":                                {"max_wait: there is no such setting: did you mean max-wait?"},
		"MaxWait: 1s":                                 {"did you mean max-wait?"},
		"wait: 1s":                                    {"wait: there is no such setting; there are attempt-timeout, call-budget, commands, "},
		"1: x":                                        {":1: 1: there is no such setting"},
		"quiet: true\nquiet: true":                    {":2: ", "already defined"},
		"quiet: true\n\"quiet\": true":                {":2: "},
		"read: true":                                  {"read: says something about one command: put it under commands.NAME, or give --read"},
		"repeatable: true":                            {"put it under commands.NAME"},
		"retry-exit: 7":                               {"put it under commands.NAME"},
		"plugin: /p":                                  {"plugin: is not taken from a file: give --plugin"},
		"repair-force: true":                          {"not taken from a file"},
		"commands: [curl]":                            {":1: commands: expected settings", "a list"},
		"commands:":                                   {"commands: expected settings", "not nothing"},
		"commands:\n  curl: 7":                        {":2: commands.curl: expected settings", "not 7"},
		"commands:\n  /usr/bin/curl: {}":              {":2: commands./usr/bin/curl: expected a command's name without its directory"},
		"commands:\n  curl:\n    maxwait: 1s":         {":3: commands.curl.maxwait: there is no such setting: did you mean max-wait?"},
		"commands:\n  curl: {retry-exit: 0}":          {"commands.curl.retry-exit: expected exit codes", "not 0: 0 is success"},
		"commands:\n  curl: {retry-exit: [7, x]}":     {"retry-exit", "a list: [7, x]", `"x" is no number`},
		"commands:\n  curl: {retry-exit: []}":         {"retry-exit", "a list: []"},
		"commands:\n  curl: {retry-stderr: ['']}":     {"retry-stderr", "texts of 1 to 1000 bytes"},
		"commands:\n  curl: {retry-stderr: [7]}":      {"retry-stderr"},
		"commands:\n  curl: {backoff: 1}":             {"backoff: expected a delay such as 1s", "not 1"},
		"commands:\n  curl: {backoff: 2s..1s}":        {"shorter than the first"},
		"commands:\n  curl: {attempts: 0}":            {"from 1 to 10000, not 0"},
		"commands:\n  a: {read: true, write: true}":   {"write: cannot stand beside read", ":2)"},
		"commands:\n  a: {attempts: 1, max-wait: 1s}": {"max-wait: cannot stand beside attempts"},
		"commands:\n  a: {policy: omnigraph, retry-exit: 1}": {"retry-exit: cannot stand beside policy"},
		"commands:\n  a: {commands: {}}":                     {"commands.a.commands: there is no such setting"},
		"quiet: true\nverbose: true":                         {":2: verbose: cannot stand beside quiet"},
		"- quiet":                                            {":1: expected settings", "a list"},
		"quiet":                                              {":1: expected settings", `"quiet"`},
		"quiet: true\n---\nquiet: false":                     {":3: a second document"},
		"quiet: &a true":                                     {":1: ", "is an anchor, an alias, a tag or a directive"},
		"quiet: !!bool true":                                 {":1: ", "is an anchor, an alias, a tag or a directive"},
		"<<: {quiet: true}":                                  {`:1: "<<" is an anchor`},
		"!!!":                                                {`:1: "!!!" is an anchor`},
		"# x\n%YAML 1.2\n---\nquiet: true":                   {":2: ", "a directive"},
		"quiet: *a":                                          {`"*" is an anchor`},
		"a: " + strings.Repeat("[", 60_000):                  {":1: too many brackets"},
		strings.Repeat("{a: ", 15_000):                       {":1: too many brackets"},
		"? quiet\n: true":                                    {"expected a plain key"},
		"&a quiet: true":                                     {"expected"},
		"quiet: true\n\tverbose: true":                       {":2: "},
		"quiet: \"true":                                      {":1: "},
		"quiet: {":                                           {":1: "},
		"a: b: c":                                            {":1: "},
		"quiet: true\nevents: /\xff":                         {":2: is not UTF-8"},
		strings.Repeat("#", 64<<10+1):                        {"longer than the 65536 bytes"},
	} {
		path := write(t, text)
		got := faultsOf(t, nil, path)
		if !strings.HasPrefix(got, path) {
			t.Errorf("%.60q: the file is not named in %q", text, got)
		}
		for _, part := range want {
			if !strings.Contains(got, part) {
				t.Errorf("%.60q: %q is not in %q", text, part, got)
			}
		}
	}
}

func TestEveryFaultIsTold(t *testing.T) {
	path := write(t, "max-wait: 1\nquiet: 2\nnone: 3\n")
	other := write(t, "stdin: x\n")
	got := faultsOf(t, []string{"OUTLAST_MAX_WAIT=1"}, path, other)
	for _, want := range []string{"OUTLAST_MAX_WAIT: ", path + ":1: max-wait", path + ":2: quiet", path + ":3: none", other + ":1: stdin"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
}

func TestBadVariables(t *testing.T) {
	for variable, want := range map[string]string{
		"OUTLAST_MAX_WAIT=10":         `OUTLAST_MAX_WAIT: expected a positive duration with a unit, such as 150s, not "10"`,
		"OUTLAST_QUIET=maybe":         `expected true or false, not "maybe"`,
		"OUTLAST_EXHAUSTED_CODE=0":    "from 1 to 255",
		"OUTLAST_STDIN=x":             "replay, pass or none",
		"OUTLAST_RETRY_EXIT=0":        "0 is success",
		"OUTLAST_RETRY_STDERR=a\n\nb": "texts of 1 to 1000 bytes",
		"OUTLAST_SEED=-1":             "from 0 to",
		"OUTLAST_READ=1":              "OUTLAST_READ: is not taken from the environment, since it says something about one command: give --read, or put it under commands.NAME",
		"OUTLAST_REPEATABLE=false":    "not taken from the environment",
		"OUTLAST_WRITE=1":             "not taken from the environment",
		"OUTLAST_REPAIR_FORCE=1":      "give --repair-force",
	} {
		if got := faultsOf(t, []string{variable}); !strings.Contains(got, want) {
			t.Errorf("%s: %q is not in %q", variable, want, got)
		}
	}
	for _, pair := range []string{"OUTLAST_MAX_WAIT=1s OUTLAST_ATTEMPTS=3", "OUTLAST_QUIET=1 OUTLAST_VERBOSE=1", "OUTLAST_POLICY=p OUTLAST_BACKOFF=1s"} {
		if got := faultsOf(t, strings.Fields(pair)); !strings.Contains(got, "cannot stand beside") {
			t.Errorf("%s: %q", pair, got)
		}
	}
	if got := faultsOf(t, []string{"OUTLAST_QUIET=1", "OUTLAST_VERBOSE=0"}); got != "" {
		t.Error(got)
	}
}

// Variables that are no settings are no fault, but config show tells of them.
func TestOtherVariables(t *testing.T) {
	c := load(t, []string{"OUTLAST_ATTEMPT=2", "OUTLAST_ELAPSED_MS=5", "OUTLAST_OFF=1", "OUTLAST_CACHE_DIR=/x", "OUTLAST_MAXWAIT=1s", "OUTLAST_READ=", "OUTLASTING=1"})
	if got := c.Unknown(); !slices.Equal(got, []string{"OUTLAST_MAXWAIT"}) {
		t.Errorf("unknown are %v", got)
	}
}

// What is written as a setting is what is read, at the line where it is.
func TestFilesAreReadAsWritten(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		texts := rapid.SliceOfN(rapid.StringMatching(`[ -~]{1,20}`), 1, 4).Draw(r, "texts")
		blank := rapid.IntRange(0, 3).Draw(r, "blank")
		text := strings.Repeat("\n", blank) + "commands:\n  curl:\n    retry-stderr:\n"
		for _, s := range texts {
			text += "      - '" + strings.ReplaceAll(s, "'", "''") + "'\n"
		}
		f, faults := parseFile("f", []byte(text), origin{})
		if len(faults) > 0 {
			r.Fatalf("%q: %v", text, faults)
		}
		e := f.commands["curl"]["retry-stderr"]
		if !slices.Equal(e.value, texts) || e.where != "f:"+string(rune('0'+blank+3)) {
			r.Fatalf("%q: %v", text, e)
		}
	})
}

func FuzzParseFile(f *testing.F) {
	for _, seed := range []string{
		"max-wait: 1s\ncommands:\n  curl: {read: true, retry-exit: [7, 1-3]}\n", "? a\n: b", "&a b: *a", "<<: {x: 1}",
		"- a", "a: |\n  x\n", "!!map {a: b}", "\ufeffquiet: true", "%YAML 1.2\n---\nquiet: true", "{a: [}", "a:\n- - -", "---\n---\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, faults := parseFile("f", []byte(text), origin{policies: []string{"omnigraph"}})
		for _, fault := range faults {
			if !strings.HasPrefix(fault.Where, "f") || fault.Message == "" {
				t.Errorf("%q: %v", text, fault)
			}
		}
		check := func(s section, where places) {
			for name, e := range s {
				if known := find(name); known == nil || known.places&where == 0 || len(e.value) == 0 || e.where == "" {
					t.Errorf("%q gave %s: %v", text, name, e)
				}
			}
		}
		if len(faults) == 0 {
			if read, written := got.scalars(), scalarsIn(text); written != read && written != read+1 { // commands itself
				t.Errorf("%q: %d scalars gave %d keys and values", text, written, read)
			}
		}
		check(got.general, inFile)
		for _, s := range got.commands {
			check(s, inCommand)
		}
	})
}

// scalars is how many keys and values a file has, without its key commands.
func (f file) scalars() int {
	n := 0
	count := func(s section) {
		for _, e := range s {
			n += 1 + len(e.value)
		}
	}
	count(f.general)
	for _, s := range f.commands {
		n++
		count(s)
	}
	return n
}

func scalarsIn(text string) (n int) {
	for _, t := range lexer.Tokenize(strings.TrimPrefix(text, "\ufeff")) {
		switch t.Type {
		case token.StringType, token.SingleQuoteType, token.DoubleQuoteType, token.BoolType, token.NullType,
			token.IntegerType, token.BinaryIntegerType, token.OctetIntegerType, token.HexIntegerType,
			token.FloatType, token.InfinityType, token.NanType:
			n++
		}
	}
	return n
}
