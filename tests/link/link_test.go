//go:build unix

package link

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func query(s *server) []string {
	return []string{"omnigraph", "query", "all", "--server", s.url(), "--graph", "people"}
}

func mutate(s *server) []string {
	return []string{"omnigraph", "mutate", "add", "--server", s.url(), "--graph", "people", "--params", "ada"}
}

// A call that meets a restart waits for it, and nobody notices, whatever the
// settings ask to be told.
func TestACallRidesOutARestart(t *testing.T) {
	for _, argv := range []func(*server) []string{query, mutate} {
		h, s := newHouse(t), newServer(t, "0.10")
		h.afterCalls(1, s.listen)
		if got := h.run([]string{"OUTLAST_VERBOSE=true"}, argv(s)...); got.Code != 0 || got.Stderr != "" || !strings.HasPrefix(got.Stdout, `{"rows"`) {
			t.Errorf("%+v", got)
		}
		calls := h.calls()
		if len(calls) < 2 || calls[0].PPID != calls[len(calls)-1].PPID {
			t.Errorf("the calls were %+v", calls)
		}
		if n := len(s.lines()); n > 1 {
			t.Errorf("%d writes", n)
		}
	}
}

// Everything else is the same as without the link, byte for byte, and happens once.
func TestAllElseIsAsWithoutTheLink(t *testing.T) {
	type situation struct {
		cut    bool
		refuse string
		env    string
		argv   func(*server) []string
	}
	for name, c := range map[string]situation{
		"success":              {argv: query},
		"usage":                {argv: func(*server) []string { return []string{"omnigraph"} }},
		"flags like outlast's": {argv: func(*server) []string { return []string{"omnigraph", "--help"} }},
		"a dash":               {argv: func(*server) []string { return []string{"omnigraph", "--", "run", "--quiet"} }},
		"bytes":                {argv: func(s *server) []string { return append(mutate(s), "\xff\xfe", "") }},
		"a write cut off":      {cut: true, argv: mutate},
		"a lost race":          {refuse: "409 stale view of dataset for node type 'Person': expected published dataset version 22 but current is 23 — refresh and retry", argv: mutate},
		"a precondition":       {refuse: "412 precondition failed on branch 'main': expected head 'X' but current is Y", argv: mutate},
		"drift":                {refuse: "409 dataset for node type 'P' is at Lance HEAD version 3, ahead of published dataset version 2; run `omnigraph repair` before writing", argv: mutate},
		"drift of a local store": {env: "STANDIN_FAILS=dataset for node type 'P' is at Lance HEAD version 3, ahead of published dataset version 2; run `omnigraph repair` before writing", argv: func(s *server) []string {
			return []string{"omnigraph", "mutate", "add", "--store", "g.omni"}
		}},
		"recovery":              {refuse: "503 recovery required for operation 01J: pending", argv: mutate},
		"switched off":          {env: "OUTLAST_OFF=1", cut: true, argv: mutate},
		"inside another":        {env: "OUTLAST_ATTEMPT=2", cut: true, argv: query},
		"a talkative setting":   {env: "OUTLAST_VERBOSE=true", cut: true, argv: mutate},
		"settings that are bad": {env: "OUTLAST_MAX_WAIT=soon", argv: query},
		"a policy that is none": {env: "OUTLAST_POLICY=/nowhere.json", argv: query},
	} {
		for _, release := range []string{"0.10", "0.13"} {
			t.Run(name+", "+release, func(t *testing.T) {
				h, s := newHouseOf(t, release), newServer(t, release)
				s.cut, s.refuse = c.cut, c.refuse
				s.listen()
				env := []string{c.env}
				argv := c.argv(s)
				linked := h.run(env, argv...)
				if calls := h.calls(); len(calls) != 1 {
					t.Errorf("%d calls: %+v", len(calls), calls)
				}
				written := len(s.lines())
				argv[0] = h.at("real/omnigraph")
				bare := h.run(env, argv...)
				if linked != bare {
					t.Errorf("with the link:\n%+v\nwithout:\n%+v", linked, bare)
				}
				if now := len(s.lines()); now != 2*written {
					t.Errorf("%d writes with the link, and %d without", written, now-written)
				}
			})
		}
	}
}

// A server that stays away is reported in the command's own words.
func TestASpentBudgetIsReportedInTheCommandsWords(t *testing.T) {
	h, s := newHouse(t), newServer(t, "0.10")
	bare := h.run(nil, append([]string{h.at("real/omnigraph")}, query(s)[1:]...)...)
	h.calls()
	policy := h.at("home/policy.json")
	h.must(os.WriteFile(policy, shortPolicy(t, h), 0o600))
	linked := h.run([]string{"OUTLAST_POLICY=" + policy}, query(s)...)
	if linked != bare {
		t.Errorf("with the link:\n%+v\nwithout:\n%+v", linked, bare)
	}
	if calls := h.calls(); len(calls) < 2 {
		t.Errorf("%d calls", len(calls))
	}
}

// shortPolicy is the built-in policy with a window of two seconds.
func shortPolicy(t *testing.T, h *house) []byte {
	t.Helper()
	shown := h.run(nil, filepath.Join(built, "outlast"), "policy", "show", "omnigraph", "--full")
	short := strings.Replace(shown.Stdout, `"max_wait": "150s"`, `"max_wait": "2s"`, 1)
	if short == shown.Stdout {
		t.Fatalf("no max_wait of 150s in %s", shown.Stdout)
	}
	return []byte(short)
}

// Not even when outlast's own part fails: here the output cannot be passed on.
func TestNothingOfOursIsPrinted(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full here")
	}
	h, s := newHouse(t), newServer(t, "0.10")
	s.listen()
	if got := h.run(nil, append([]string{"sh", "-c", `"$@" >/dev/full`, "sh"}, query(s)...)...); got.Stderr != "" || got.Code == 0 {
		t.Errorf("%+v", got)
	}
}

// Where the link is to do nothing, the command takes its place: it is the very
// process that the caller started.
func TestTheCommandTakesTheLinksPlace(t *testing.T) {
	for _, env := range []string{"OUTLAST_OFF=1", "OUTLAST_OFF=yes", "OUTLAST_ATTEMPT=1"} {
		h, s := newHouse(t), newServer(t, "0.10")
		_, pid := h.runWithPID([]string{env}, query(s)...)
		calls := h.calls()
		if len(calls) != 1 || calls[0].PID != pid || calls[0].Argv0 != h.at("real/omnigraph") {
			t.Errorf("%s: process %d, and the calls were %+v", env, pid, calls)
		}
	}
}

func TestNoLockIsTaken(t *testing.T) {
	h := newHouse(t)
	store := h.at("home/g.omni")
	if got := h.run(nil, "omnigraph", "mutate", "add", "--store", store, "--params", "ada"); got != (end{}) {
		t.Errorf("%+v", got)
	}
	if calls := h.calls(); len(calls) != 1 || calls[0].Locked {
		t.Errorf("the calls were %+v", calls)
	}
	if _, err := os.Lstat(store + ".lock"); err == nil {
		t.Error("there is a lock")
	}
}

func TestAMissingCommandIsReportedAsAShellDoes(t *testing.T) {
	h := newHouse(t)
	h.must(os.Remove(h.at("real/omnigraph")))
	if got, want := h.run(nil, "omnigraph", "query"), (end{"", "omnigraph: command not found\n", 127}); got != want {
		t.Errorf("%+v", got)
	}
	h.must(os.WriteFile(h.at("real/omnigraph"), nil, 0o644))
	if got, want := h.run(nil, "omnigraph", "query"), (end{"", "omnigraph: permission denied\n", 126}); got != want {
		t.Errorf("%+v", got)
	}
}

// However often the name leads back to a link, the command is run, once, or the
// caller is told that there is none.
func TestNothingRunsInCircles(t *testing.T) {
	outlast := filepath.Join(built, "outlast")
	for name, lay := range map[string]func(h *house){
		"a second link":       func(h *house) { h.must(os.Symlink(outlast, h.at("other/omnigraph"))) },
		"a hard link":         func(h *house) { h.must(os.Link(outlast, h.at("other/omnigraph"))) },
		"a link to the link":  func(h *house) { h.must(os.Symlink(h.at("link/omnigraph"), h.at("other/omnigraph"))) },
		"another release":     func(h *house) { otherRelease(h, h.at("other/omnigraph")) },
		"a wrapper":           func(h *house) { h.script("other/omnigraph", `exec omnigraph "$@"`) },
		"a wrapper that runs": func(h *house) { h.script("other/omnigraph", `omnigraph "$@"; exit $?`) },
		"a wrapper of outlast": func(h *house) {
			h.script("other/omnigraph", `exec `+outlast+` run --quiet -- `+h.at("real/omnigraph")+` "$@"`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			lay(h)
			store := h.at("home/g.omni")
			argv := []string{"omnigraph", "mutate", "add", "--store", store, "--params", "ada"}
			for _, env := range []string{"A=1", "OUTLAST_OFF=1", "OUTLAST_ATTEMPT=1"} {
				if got := h.run([]string{env}, argv...); got != (end{}) {
					t.Errorf("%s: %+v", env, got)
				}
				if calls := h.calls(); len(calls) != 1 {
					t.Errorf("%s: %d calls", env, len(calls))
				}
			}
			h.must(os.Remove(h.at("real/omnigraph")))
			if got := h.run(nil, argv...); got.Code != 127 && got.Code != 126 {
				t.Errorf("without the command: %+v", got)
			}
		})
	}
}

// otherRelease is another file of the tool, as a second release on a machine is.
func otherRelease(h *house, path string) {
	text, err := os.ReadFile(filepath.Join(built, "outlast"))
	h.must(err)
	h.must(os.WriteFile(path, append(text, 0), 0o755))
}

// The tool by another name that no command has is still the tool.
func TestARenamedToolIsTheTool(t *testing.T) {
	h := newHouse(t)
	h.must(os.Symlink(filepath.Join(built, "outlast"), h.at("other/ride")))
	if got := h.run(nil, "ride", "version"); got.Code != 0 || !strings.Contains(got.Stdout, "outlast") {
		t.Errorf("%+v", got)
	}
	h.script("real/ride", `echo "the real one, $1"`)
	if got, want := h.run(nil, "ride", "version"), (end{"the real one, version\n", "", 0}); got != want {
		t.Errorf("%+v", got)
	}
}
