package ready

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"outlast/abi"
	"outlast/ready/meeting"
)

// looks is a process with a call, which looks for others, and one that follows it.
func looks(t *testing.T, to Target) (*caller, *client) {
	p := newProcess(short(t))
	c := p.call(t, to, abi.Accepting)
	return c, follower(t, p, to)
}

// next is the next line that a follower hears in time, "" for none.
func (c *client) next(in time.Duration) string {
	select {
	case line, open := <-c.heard:
		if !open {
			return "the end"
		}
		return line
	case <-time.After(in):
		return ""
	}
}

// client is a follower of a test's own.
type client struct {
	*net.UnixConn
	heard chan string // closed with the connection
}

func follower(t *testing.T, p *process, to Target) *client {
	t.Helper()
	dir, _ := p.dir()
	place, err := meeting.At(dir, to.named(), "direct", to.Host)
	if err != nil {
		t.Fatal(err)
	}
	var conn *net.UnixConn
	eventually(t, "somebody looks", func() bool {
		names, _ := filepath.Glob(filepath.Join(dir, place.Name()+".*"))
		if len(names) == 1 {
			_, conn, _, _ = place.Enter(0)
		}
		return conn != nil
	})
	t.Cleanup(func() { conn.Close() })
	c := &client{conn, make(chan string, 100)}
	go func() {
		defer close(c.heard)
		for lines := bufio.NewScanner(conn); lines.Scan(); {
			c.heard <- lines.Text()
		}
	}()
	return c
}

// kept is how many calls of followers a process remembers.
func (c *caller) kept() int {
	c.watcher.mu.Lock()
	defer c.watcher.mu.Unlock()
	return c.watcher.shared.kept
}

// A looker keeps so many calls of others, those included whose attempt is under way.
// Whose are too many hears so, and all its calls are forgotten.
func TestTooManyCalls(t *testing.T) {
	for name, then := range map[string]string{"they wait": "", "they go": "go %[1]d\n"} {
		t.Run(name, func(t *testing.T) {
			c, f := looks(t, target(t, "tcp"))
			say := func(from, to int) {
				var text strings.Builder
				for i := from; i < to; i++ {
					fmt.Fprintf(&text, "wait %[1]d accepting down seldom\n"+then, i)
				}
				fmt.Fprint(f, text.String())
			}
			say(0, calls)
			eventually(t, "they are kept", func() bool { return c.kept() == calls })
			say(0, calls) // in the place of those before
			fmt.Fprintln(f, "ask")
			if got := f.next(long); !strings.HasPrefix(got, "here down") || c.kept() != calls {
				t.Errorf("%q, and %d calls", got, c.kept())
			}
			say(calls, calls+1)
			if got := []string{f.next(long), f.next(long)}; got[0] != "full" || got[1] != "the end" {
				t.Errorf("%q", got)
			}
			eventually(t, "they are forgotten", func() bool { return c.kept() == 0 })
		})
	}
}

// A connection that ends with many calls does not have the line gone through for each
// of them.
func TestManyCallsAreLostAtOnce(t *testing.T) {
	to := target(t, "http")
	c, f := looks(t, to)
	var text strings.Builder
	for i := range calls {
		fmt.Fprintf(&text, "wait %d ready down seldom\n", i)
	}
	fmt.Fprint(f, text.String())
	eventually(t, "they are kept", func() bool { return c.kept() == calls })
	serve(t, to, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) })
	<-c.heard
	began := time.Now()
	const deals = 100
	for range deals {
		c.watcher.mu.Lock()
		c.watcher.deal()
		c.watcher.mu.Unlock()
	}
	each := time.Since(began) / deals
	f.Close()
	began = time.Now()
	eventually(t, "they are forgotten", func() bool { return c.kept() == 0 })
	if took := time.Since(began); took > calls*each/3 {
		t.Errorf("it took %v, and a deal of turns takes %v", took, each)
	} else {
		t.Log(took, each)
	}
}

// A follower's call has one turn each time that it waits, however often the server
// goes and comes back, or gets readier.
func TestOneTurnForEachWait(t *testing.T) {
	to := target(t, "http")
	c, f := looks(t, to)
	fmt.Fprint(f, "wait 7 accepting down eager\n")
	eventually(t, "it is kept", func() bool { return c.kept() == 1 })
	stop := serve(t, to, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) })
	if got := f.next(long); !strings.HasPrefix(got, "turn 7 accepting ") {
		t.Fatal(got)
	}
	stop()
	eventually(t, "down", func() bool { return c.Seen().Down })
	serve(t, to, func(http.ResponseWriter, *http.Request) {})
	if got := f.next(time.Second); got != "" {
		t.Error(got)
	}
	fmt.Fprint(f, "done 7 left\nwait 7 accepting down eager\n")
	if got := f.next(long); !strings.HasPrefix(got, "turn 7 ready ") {
		t.Error(got)
	}
}

// What a follower's call is told stays true until it is said, though the server is away
// by then: the follower looks itself, and says that it waits again.
func TestATurnIsSaidOnceItIsGiven(t *testing.T) {
	v := &watch{remote: true, rose: accepting}
	if v.rise(unanswered); v.rose != accepting {
		t.Error("a turn is taken and not said")
	}
}
