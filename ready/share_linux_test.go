package ready

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"outlast/abi"
	"outlast/host"
	"outlast/internal/turns"
	"outlast/ready/meeting"
)

// process is what shares the looks of others in a test: a registry of its own, as
// each process has one.
type process struct {
	*registry
	looks atomic.Int64
}

func newProcess(dir string) *process {
	p := &process{}
	p.registry = newRegistry(func(ctx context.Context, t *Target) (level, int) {
		p.looks.Add(1)
		return look(ctx, t)
	}, func() (string, error) { return dir, nil })
	return p
}

// short is a directory whose path leaves room for a socket's.
func short(t *testing.T) string {
	dir, err := os.MkdirTemp("/tmp", "look")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// caller waits with a process, as the host does.
type caller struct {
	*watch
	heard chan time.Time
}

func (p *process) call(t *testing.T, to Target, by abi.Readiness) *caller {
	c := &caller{heard: make(chan time.Time, 10)}
	c.watch = p.join(to, true, func() { c.heard <- time.Now() })
	c.Waits(by, 0, time.Hour)
	t.Cleanup(c.Stop)
	return c
}

// follows says whether a caller that has seen something goes by another's eyes.
func (c *caller) follows() bool {
	c.watcher.mu.Lock()
	defer c.watcher.mu.Unlock()
	return c.looked && c.watcher.shared.follows
}

// oneLooks waits until all but one follow.
func oneLooks(t *testing.T, callers []*caller) {
	t.Helper()
	eventually(t, "one looks, and the others follow", func() bool {
		follow := 0
		for _, c := range callers {
			if c.follows() {
				follow++
			}
		}
		return follow == len(callers)-1
	})
}

// crowd is processes with a caller each, of which all but one follow.
func crowd(t *testing.T, n int, to Target, by abi.Readiness) (processes []*process, callers []*caller) {
	dir := short(t)
	for range n {
		p := newProcess(dir)
		processes = append(processes, p)
		callers = append(callers, p.call(t, to, by))
	}
	oneLooks(t, callers)
	return processes, callers
}

func (c *caller) goes(how host.How) { c.Stop(); c.Went(how) }

// One looks for all. When the server is back one goes at once, and the others as
// those before are answered.
func TestOneLooksForAll(t *testing.T) {
	for by, scheme := range map[abi.Readiness]string{abi.Accepting: "tcp", abi.Ready: "http"} {
		t.Run(string(by), func(t *testing.T) {
			t.Parallel()
			const n = 30
			to := target(t, scheme)
			processes, callers := crowd(t, n, to, by)
			before := int64(0)
			for _, p := range processes {
				before += p.looks.Load()
			}
			time.Sleep(time.Second)
			looks := -before
			for _, p := range processes {
				looks += p.looks.Load()
			}
			if looks > int64(time.Second/shortest)+3 {
				t.Errorf("%d looks in a second", looks)
			}
			var under, most, served atomic.Int64
			var all sync.WaitGroup
			for _, c := range callers {
				all.Go(func() {
					<-c.heard
					if got := readiness[c.told()]; got != by {
						t.Errorf("told that the server is %q", got)
					}
					if now := under.Add(1); now > most.Load() {
						most.Store(now)
					}
					c.Stop()
					time.Sleep(10 * time.Millisecond)
					if served.Add(1) == 1 && most.Load() > 1 {
						t.Errorf("%d went before the first was answered", most.Load())
					}
					under.Add(-1)
					c.Went(host.Answered)
				})
			}
			serve(t, to, func(http.ResponseWriter, *http.Request) {})
			all.Wait()
			if most.Load() < 2 {
				t.Error("the ramp is flat")
			}
		})
	}
}

// A call that is held off, as after a wake in vain, gives back a turn that comes
// meanwhile: nobody behind it waits until that is over. Later it waits as ever.
func TestATurnThatComesToOneThatIsHeldOff(t *testing.T) {
	t.Parallel()
	to, dir := target(t, "tcp"), short(t)
	newProcess(dir).call(t, to, abi.Accepting)
	eventually(t, "one looks", func() bool {
		names, _ := filepath.Glob(filepath.Join(dir, "look1-*"))
		return len(names) == 1
	})
	const held = 3 * time.Second
	first := newProcess(dir).call(t, to, abi.Accepting)
	eventually(t, "it follows", first.follows)
	began := time.Now()
	first.Waits(abi.Accepting, held, time.Hour)
	second := newProcess(dir).call(t, to, abi.Accepting)
	eventually(t, "the other does", second.follows)
	time.Sleep(2 * longest)
	listen(t, to)
	back := time.Now()
	if lag := (<-second.heard).Sub(back); lag > turns.Lease/2 {
		t.Errorf("the other waited for %v", lag)
	}
	second.goes(host.Answered)
	if waited := (<-first.heard).Sub(began); waited < held {
		t.Errorf("it was held off for %v only", waited)
	}
}

// The looker dies, is stopped or leaves, and another is one.
func TestTheLookerIsGone(t *testing.T) {
	for _, how := range []string{"leaves", "is passed"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			to := target(t, "tcp")
			_, callers := crowd(t, 5, to, abi.Accepting)
			rest := callers[:0:0]
			for _, c := range callers {
				if c.follows() {
					rest = append(rest, c)
				} else if how == "leaves" {
					c.Stop()
				} else {
					names, _ := filepath.Glob(filepath.Join(c.dirOf(), "look1-*"))
					for _, name := range names {
						os.Remove(name)
					}
					rest = append(rest, c)
				}
			}
			oneLooks(t, rest)
			listen(t, to)
			for range rest {
				next(t, rest).goes(host.Answered)
			}
		})
	}
}

func (c *caller) dirOf() string {
	dir, _ := c.watcher.among.dir()
	return dir
}

// next is a caller whose turn it is.
func next(t *testing.T, list []*caller) *caller {
	t.Helper()
	var found *caller
	eventually(t, "a turn", func() bool {
		for _, c := range list {
			select {
			case <-c.heard:
				found = c
				return true
			default:
			}
		}
		return false
	})
	return found
}

// A looker that is connected to, and never says anything true, costs the callers
// no attempt of their schedule: they look themselves before it is due.
func TestALookerThatLies(t *testing.T) {
	lies := map[string]func(c net.Conn){
		"is silent":        func(c net.Conn) { io.Copy(io.Discard, c) },
		"says it is there": func(c net.Conn) { repeat(c, fmt.Sprintln("here ready", int64(1<<52))) },
		"is stale":         func(c net.Conn) { repeat(c, "here down 1\n") },
		"says nonsense":    func(c net.Conn) { repeat(c, "\x00\xff here down 5\n") },
		"gives turns early": func(c net.Conn) {
			repeat(c, fmt.Sprintf("here down %d\nturn 1 ready %d\n", int64(1<<52), int64(1<<52)))
		},
		"has no line ends": func(c net.Conn) { repeat(c, "here here here ") },
		"hangs up":         func(c net.Conn) {},
		"is full":          func(c net.Conn) { fmt.Fprintln(c, "full") },
	}
	for name, lie := range lies {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			to := target(t, "tcp")
			p := newProcess(short(t))
			liar(t, p, to, lie)
			w := p.join(to, true, func() {})
			defer w.Stop()
			for range 3 {
				w.Waits(abi.Accepting, 0, time.Second)
				time.Sleep(time.Second)
				if name != "gives turns early" && !w.Seen().Down {
					t.Errorf("%+v", w.Seen())
				}
			}
			listen(t, to)
			w.Waits(abi.Accepting, 0, time.Second)
			time.Sleep(time.Second)
			if w.Seen().Down {
				t.Error("an attempt of the schedule is left out")
			}
		})
	}
}

func repeat(c net.Conn, text string) {
	for {
		if _, err := c.Write([]byte(text)); err != nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// liar sits where the looker of a target would, at the highest term.
func liar(t *testing.T, p *process, to Target, lie func(net.Conn)) {
	t.Helper()
	dir, _ := p.dir()
	place, err := meeting.At(dir, to.named(), "direct", to.Host)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, place.Name()+".4503599627370496"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { c.Close() })
			go func() {
				defer c.Close()
				lie(c)
			}()
		}
	}()
}

// A place that cannot be used changes nothing: each looks for itself.
func TestAlone(t *testing.T) {
	foreign := filepath.Join(t.TempDir(), "not there")
	p := newProcess(foreign)
	to := target(t, "tcp")
	c := p.call(t, to, abi.Accepting)
	eventually(t, "down", func() bool { return c.Seen().Down })
	began := time.Now()
	listen(t, to)
	if lag := (<-c.heard).Sub(began); lag > time.Second {
		t.Errorf("noticed after %v", lag)
	}
}

// A looker that was stopped gives its first turn alone, whatever its window was.
func TestALookerThatWasStopped(t *testing.T) {
	w := newWatcher(Target{}, nil)
	w.up = true
	now := time.Now()
	for range 50 {
		v := &watch{}
		w.turns.Begin(v, now)
		w.turns.Answered(v, now.Add(time.Millisecond))
	}
	w.turns.Begin(&watch{}, now)
	if w.dealt = now; !w.turns.Free(now) {
		t.Fatal("the window is still 1")
	}
	w.dealt = now.Add(-2 * turns.Lease)
	w.deal()
	if w.turns.Begin(&watch{}, now); w.turns.Free(now) {
		t.Error("a looker that was stopped gives many turns at once")
	}
}

// All languages name a target alike.
func TestTargetsAsOthersNameThem(t *testing.T) {
	var cases struct{ Targets map[string]string }
	text, err := os.ReadFile("meeting/testdata/protocol.json")
	if err == nil {
		err = json.Unmarshal(text, &cases)
	}
	if err != nil || len(cases.Targets) == 0 {
		t.Fatal(err)
	}
	for text, want := range cases.Targets {
		choice, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := choice.Target.named(); got != want {
			t.Errorf("%s is %s", text, got)
		}
	}
}
