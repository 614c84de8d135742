//go:build unix

package omnigraph

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"outlast/tests/omnigraph/life"
)

// story is what becomes of a server while a call is made.
type story struct {
	name string
	// before is the server that there is when the call begins; nil: none.
	before []string
	// events follow once the call has begun.
	events func(*stage)
	// write and read are how the call ends: ok, or indeterminate. Empty: the
	// story is not about such a call.
	write, read string
	// applied is how often the write is, where it did not end well.
	applied int
}

// stories are the restarts, one for each phase of the server's life in which it
// can be met or killed.
var stories = []story{
	{name: "away, then loading", write: "ok", read: "ok", events: func(s *stage) {
		s.pause(time.Second)
		s.start("-loading", "1s")
	}},
	{name: "met while it loads", before: []string{"-loading", "2s"}, write: "ok", read: "ok"},
	{name: "killed while it loads", before: []string{"-loading", "1m"}, write: "ok", read: "ok", events: func(s *stage) {
		s.pause(time.Second)
		s.kill()
		s.pause(500 * time.Millisecond)
		s.start("-loading", "700ms")
	}},
	{name: "killed when it has read the write", before: []string{"-dies", "read"}, write: "indeterminate", events: again},
	{name: "killed when the write is applied", before: []string{"-dies", "applied"}, write: "indeterminate", applied: 1, events: again},
	{name: "killed in its answer", before: []string{"-dies", "answering"}, write: "indeterminate", applied: 1, events: again},
	{name: "killed while it works", before: []string{"-work", "1m"}, write: "indeterminate", read: "ok", events: func(s *stage) {
		s.working()
		s.kill()
		s.start("-loading", "500ms")
	}},
	{name: "stopped while it works, and drains", before: []string{"-work", "2s"}, write: "ok", read: "ok", events: func(s *stage) {
		s.working()
		s.terminate()
		again(s)
	}},
	{name: "stopped, and the drain takes too long", before: []string{"-work", "1m", "-shutdown-grace", "500ms"}, write: "indeterminate", read: "ok", events: func(s *stage) {
		s.working()
		s.terminate()
		again(s)
	}},
}

// again starts a server that loads when the one before has ended.
func again(s *stage) {
	s.server.Wait()
	s.start("-loading", "700ms")
}

// stage is one story with one call.
type stage struct {
	t      *testing.T
	house  life.House
	server *life.Server
}

func newStage(t *testing.T, release string) *stage {
	t.Helper()
	address, err := life.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{t: t, house: life.House{
		Program: filepath.Join(built, "omnigraph-server"), Address: address, Release: release, Ledger: filepath.Join(t.TempDir(), "ledger"),
	}}
	t.Cleanup(func() {
		if s.server != nil {
			s.server.Kill()
		}
	})
	return s
}

func (s *stage) url() string { return "http://" + s.house.Address }

func (s *stage) pause(d time.Duration) { time.Sleep(d) }
func (s *stage) kill()                 { s.server.Kill() }

// working waits until the server has the call's request.
func (s *stage) working() {
	if err := s.server.Working(); err != nil {
		s.t.Error(err)
	}
}

func (s *stage) terminate() {
	if err := s.server.Terminate(); err != nil {
		s.t.Error(err)
	}
}

func (s *stage) start(flags ...string) {
	server, err := s.house.Start(flags...)
	if err != nil {
		s.t.Error(err)
		return
	}
	s.server = server
}

// told is how a caller was told that a call ended.
type told struct {
	outcome string // ok, indeterminate, …; where only an exit code is seen: ok or failed
	stdout  string
	text    string // all that may help to find out why
}

// rider makes a call that rides out restarts: the tool, the link, a library.
type rider struct {
	names bool // whether it can say indeterminate
	call  func(t *testing.T, release string, argv []string) told
}

// calls are verbs and formats.
var calls = []string{"query", "query --json", "query --format jsonl", "mutate", "mutate --json", "load", "load --json", "load --quiet", "load --quiet --json", "branch create"}

// play makes one call in a story, and says whether what the caller is told of it
// is true.
func (r *rider) play(t *testing.T, release, call string, story story) {
	isRead := strings.HasPrefix(call, "query")
	want := story.write
	if isRead {
		want = story.read
	}
	if want == "" {
		t.Skip("the story is not about such a call")
	}
	s := newStage(t, release)
	if story.before != nil {
		s.start(story.before...)
		if s.server == nil {
			return
		}
		if early := strings.Contains(strings.Join(story.before, " "), "loading"); early && release != "0.10" && release != "0.11" {
			if err := s.server.Listening(); err != nil {
				t.Fatal(err)
			}
		} else if !early {
			if _, err := s.server.Ready(); err != nil {
				t.Fatal(err)
			}
		}
	}
	played := make(chan struct{})
	go func() {
		defer close(played)
		if story.events != nil {
			story.events(s)
		}
	}()
	got := r.call(t, release, append([]string{"omnigraph"}, s.line(call)...))
	<-played
	s.judge(r, got, want, story.applied, isRead)
}

// line is the command line of a call.
func (s *stage) line(call string) []string {
	words := strings.Fields(call)
	switch {
	case words[0] == "branch":
		words = append(words, "review", "--params", theWrite)
	case words[0] == "load":
		words = append(words, "--mode", "merge", "--params", theWrite)
	default:
		words = append(words, "everybody", "--params", theWrite)
	}
	return append(words, "--server", s.url(), "--graph", "people")
}

// theWrite is the ledger's line of it.
const theWrite = "ada"

func (s *stage) judge(r *rider, got told, want string, applied int, isRead bool) {
	s.t.Helper()
	ledger, err := s.house.Applied()
	if err != nil {
		s.t.Fatal(err)
	}
	switch n := ledger[theWrite]; {
	case n > 1:
		s.t.Errorf("applied %d times", n)
	case isRead && n != 0:
		s.t.Errorf("a read was applied %d times", n)
	case !isRead && want == "ok" && n != 1, !isRead && want != "ok" && n != applied:
		s.t.Errorf("applied %d times", n)
	}
	if want != "ok" && !r.names {
		want = "failed"
	}
	if got.outcome != want {
		s.t.Errorf("the caller is told %s, want %s\n%s", got.outcome, want, got.text)
	}
	if want == "ok" && !isRead && !strings.Contains(got.stdout, "applied") {
		s.t.Errorf("the answer is %q", got.stdout)
	}
}
