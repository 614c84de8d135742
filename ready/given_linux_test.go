package ready

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"outlast/abi"
	"outlast/host"
	"outlast/internal/turns"
	"outlast/ready/meeting"
)

// fake is a looker of a test's own, which answers what each follower says.
type fake struct {
	mu    sync.Mutex
	lines []string // that were said to it, without the questions
	conns int
}

// newFake sits where a process would look for one. For each line it says what answer
// gives; a question it answers with a look that holds unless that is "".
func newFake(t *testing.T, p *process, to Target, here level, answer func(words []string) string) *fake {
	f := &fake{}
	liar(t, p, to, func(c net.Conn) {
		f.mu.Lock()
		f.conns++
		f.mu.Unlock()
		for lines := bufio.NewScanner(c); lines.Scan(); {
			words, says := strings.Fields(lines.Text()), ""
			if words[0] == "ask" {
				says = fmt.Sprintln("here", here.word(), meeting.Time(meeting.Boot()+holds))
			} else {
				f.mu.Lock()
				f.lines = append(f.lines, lines.Text())
				f.mu.Unlock()
			}
			fmt.Fprint(c, says, answer(words)) // who has gone may have said something before
		}
	})
	return f
}

// said is how many lines it heard that begin so.
func (f *fake) said(begins string) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, line := range f.lines {
		if strings.HasPrefix(line, begins) {
			n++
		}
	}
	return n
}

func (f *fake) connections() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.conns
}

func turnOf(id string, at level, until time.Duration) string {
	return fmt.Sprintln("turn", id, at.word(), meeting.Time(until))
}

// turner gives each call its turn as soon as it waits.
func turner(lease time.Duration) func([]string) string {
	return func(words []string) string {
		if words[0] != "wait" {
			return ""
		}
		return turnOf(words[1], levelOf(words[2]), meeting.Boot()+lease)
	}
}

func (c *caller) woken() bool { return len(c.heard) > 0 }

// A turn wakes a call only if a look of its own process finds the server as the
// looker says. Else it is given back, and the call waits again a while later.
func TestAFalseTurn(t *testing.T) {
	for name, c := range map[string]struct {
		by     abi.Readiness
		before http.HandlerFunc // nil: nobody listens
	}{
		"refused":   {abi.Accepting, nil},
		"not ready": {abi.Accepting, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }},
		"a fault":   {abi.Ready, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			to, p := target(t, "http"), newProcess(short(t))
			stop := func() {}
			if c.before != nil {
				stop = serve(t, to, c.before)
			}
			f := newFake(t, p, to, down, turner(turns.Lease))
			caller := p.call(t, to, c.by)
			eventually(t, "a turn is given back", func() bool { return f.said("done 1 left") > 2 })
			if caller.woken() {
				t.Error("it was woken")
			}
			stop()
			serve(t, to, func(http.ResponseWriter, *http.Request) {})
			back := time.Now()
			if lag := (<-caller.heard).Sub(back); lag > 2*declines {
				t.Errorf("woken %v after the return", lag)
			}
			if got := readiness[caller.told()]; got != c.by {
				t.Errorf("told that the server is %q", got)
			}
			caller.goes(host.Answered)
			eventually(t, "the looker hears of the attempt", func() bool { return f.said("go 1") == 1 && f.said("done 1 answered") == 1 })
		})
	}
}

// Whatever a looker gives, a call says no more often than every 300 ms that it waits.
func TestTurnsThatAreOfNoUseKeepNobodyBusy(t *testing.T) {
	for name, answer := range map[string]func([]string) string{
		"stale": turner(-time.Second),
		"false": turner(turns.Lease),
		"too little": func(words []string) string {
			return strings.ReplaceAll(turner(turns.Lease)(words), "ready", "accepting")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			to, p := target(t, "http"), newProcess(short(t))
			f := newFake(t, p, to, down, answer)
			p.call(t, to, abi.Ready)
			eventually(t, "it waits", func() bool { return f.said("wait") > 1 })
			before, looks := f.said("wait"), p.looks.Load()
			time.Sleep(time.Second)
			if waits := f.said("wait") - before; waits < 1 || waits > int(time.Second/declines)+1 {
				t.Errorf("it said in a second %d times that it waits", waits)
			}
			if looks := p.looks.Load() - looks; looks > int64(time.Second/declines)+2 {
				t.Errorf("%d looks in a second", looks)
			}
		})
	}
}

// A looker that says more than it is asked for is followed no more: the process looks
// for itself, and comes back much later.
func TestALookerThatSaysTooMuch(t *testing.T) {
	holds := meeting.Time(meeting.Boot() + time.Hour)
	for name, line := range map[string]string{
		"looks": fmt.Sprintln("here", "down", holds),
		"turns": fmt.Sprintln("turn", 1, "ready", holds),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			to, p := target(t, "tcp"), newProcess(short(t))
			f := newFake(t, p, to, down, func(words []string) string {
				if words[0] != "ask" {
					return ""
				}
				return strings.Repeat(line, spare+2)
			})
			c := p.call(t, to, abi.Accepting)
			eventually(t, "it looks alone", func() bool { return f.connections() == 1 && !c.follows() && p.looks.Load() > 5 })
			looks := p.looks.Load()
			time.Sleep(time.Second)
			if f.connections() > 1 || p.looks.Load() < looks+5 {
				t.Errorf("%d connections, and %d looks in a second", f.connections(), p.looks.Load()-looks)
			}
		})
	}
}

// A turn that comes while as many looks as may be are under way has one as soon as one
// of them has ended.
func TestTurnsOfManyCalls(t *testing.T) {
	t.Parallel()
	to, p, release := target(t, "tcp"), newProcess(short(t)), make(chan bool)
	var begun atomic.Int64
	p.look = func(ctx context.Context, _ *Target) (level, int) {
		if begun.Add(1) > inFlight {
			return accepting, 0
		}
		select {
		case <-release:
		case <-ctx.Done():
		}
		p.looks.Add(1)
		return down, 0
	}
	f := newFake(t, p, to, down, func(words []string) string {
		if p.looks.Load() > 0 {
			return "" // those that were given back get no other
		}
		return turner(time.Hour)(words)
	})
	var callers []*caller
	for range inFlight + 3 {
		callers = append(callers, p.call(t, to, abi.Accepting))
	}
	eventually(t, "they wait", func() bool { return f.said("wait") == len(callers) })
	eventually(t, "they have their turn", func() bool {
		w := callers[0].watcher
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.flying == inFlight && w.shared.check && callers[len(callers)-1].given != unanswered
	})
	close(release)
	eventually(t, "the last is woken", callers[len(callers)-1].woken)
}

// A call that was woken and does not go, as when that met no wait of its, says that
// it waits when its turn has passed.
func TestATurnThatIsNotTaken(t *testing.T) {
	t.Parallel()
	to, p := target(t, "tcp"), newProcess(short(t))
	listen(t, to)
	f := newFake(t, p, to, down, turner(turns.Lease))
	c := p.call(t, to, abi.Accepting)
	<-c.heard
	woken := f.said("wait")
	time.Sleep(turns.Lease / 2)
	if f.said("wait") != woken || f.said("done") > 0 {
		t.Errorf("%q", f.lines)
	}
	eventually(t, "it waits again", func() bool { return f.said("wait") > woken })
	<-c.heard
}

// A good look that a process made while it followed is none of the two that make a
// server ready once it looks for others: the server may have been away in between.
func TestReadyIsSeenAnew(t *testing.T) {
	w := newWatcher(Target{Scheme: "http"}, nil)
	w.locals = 1
	w.setFollows(true, nil)
	w.looked(1, time.Now(), healthy, 200)
	w.setFollows(false, nil)
	if w.looked(2, time.Now().Add(time.Minute), healthy, 200); w.ready {
		t.Error("ready with a single look")
	}
}
