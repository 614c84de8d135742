package measure

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"outlast/outages"
	"outlast/process"
)

// watched is what a watcher finds while something happens.
type watched struct {
	mu     sync.Mutex
	last   EventKind // but for Same
	state  outages.State
	list   []outages.Outage
	cancel context.CancelFunc
	done   chan struct{}
	open   *Sample
	err    error
}

func watchTarget(t *testing.T, target Target, hold time.Duration) *watched {
	t.Helper()
	w := &Watcher{Target: target, Every: 20 * time.Millisecond, Timeout: 30 * time.Second, Hold: hold, Host: "here", Tool: "test"}
	if err := w.Validate(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	found := &watched{cancel: cancel, done: make(chan struct{})}
	go func() {
		found.open, found.err = w.Watch(ctx, found.observe)
		close(found.done)
	}()
	t.Cleanup(func() { found.stop() })
	return found
}

func (w *watched) observe(e Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if e.Kind != Same {
		w.last = e.Kind
	}
	w.state = e.Sample.State
	if e.Kind == Ended {
		w.list = append(w.list, *e.Outage)
	}
}

// until waits for one of some events.
func (w *watched) until(t *testing.T, kinds ...EventKind) {
	t.Helper()
	w.wait(t, func() bool { return slices.Contains(kinds, w.last) })
}

// sees waits for a state.
func (w *watched) sees(t *testing.T, state outages.State) {
	t.Helper()
	w.wait(t, func() bool { return w.state == state })
}

func (w *watched) wait(t *testing.T, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		w.mu.Lock()
		over := done()
		w.mu.Unlock()
		if over {
			return
		}
	}
	t.Fatalf("not seen; the last was event %v and state %v", w.last, w.state)
}

func (w *watched) stop() {
	w.cancel()
	<-w.done
}

func mustTarget(t *testing.T, text string) Target {
	t.Helper()
	target, err := ParseTarget(text)
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// Three restarts of a real process, watched by TCP, by HTTP, through a proxy
// that accepts meanwhile, and by a command: what is recorded is as exact as is
// stated.
func TestThreeRestarts(t *testing.T) {
	s := &server{t: t, addr: "127.0.0.1:0"}
	s.start()
	s.ready()
	addr := s.addr
	t.Cleanup(func() { s.kill() })
	behind := proxy(t, func() string { return addr })
	const hold = 100 * time.Millisecond
	watchers := map[string]*watched{
		"tcp":     watchTarget(t, mustTarget(t, "tcp://"+addr), hold),
		"http":    watchTarget(t, mustTarget(t, "http://"+addr), hold),
		"proxied": watchTarget(t, mustTarget(t, "http://"+behind), hold),
	}
	if _, err := exec.LookPath("curl"); err == nil {
		watchers["command"] = watchTarget(t, Target{Command: []string{"curl", "-sf", "-o", os.DevNull, "http://" + addr + "/healthz"}}, hold)
	}
	var periods []period
	for n := range 3 {
		for _, w := range watchers {
			w.until(t, Present, Ended)
		}
		went := s.kill()
		for name, w := range watchers {
			w.sees(t, mustSee[name][0])
		}
		time.Sleep(time.Duration(50+100*n) * time.Millisecond)
		listened := s.start()
		for name, w := range watchers {
			w.sees(t, mustSee[name][1])
		}
		ready := s.ready()
		for _, w := range watchers {
			w.until(t, Ended)
		}
		periods = append(periods, period{went, listened, ready})
	}
	for name, w := range watchers {
		w.stop()
		if w.err != nil || w.open != nil || len(w.list) != 3 {
			t.Errorf("%s: %v, %v, %d outages", name, w.err, w.open, len(w.list))
			continue
		}
		mustBeWritable(t, w.list)
		for i := range w.list {
			back := periods[i].ready
			if name == "tcp" {
				back = periods[i].listened
			}
			checkOutage(t, name, &w.list[i], periods[i].went, back)
			checkPhases(t, name, &w.list[i])
		}
	}
}

// checkOutage compares an outage with when the server went and came back, which
// is known to a span each.
func checkOutage(t *testing.T, name string, o *outages.Outage, went, back outages.Span) {
	t.Helper()
	d := o.Details
	if d.DownBetween.From.After(went.To) || d.DownBetween.To.Before(went.From) {
		t.Errorf("%s: it went at %v, and was said to between %v and %v", name, went, d.DownBetween.From, d.DownBetween.To)
	}
	if d.UpBetween.From.After(back.To) || d.UpBetween.To.Before(back.From) {
		t.Errorf("%s: it was back at %v, and was said to between %v and %v", name, back, d.UpBetween.From, d.UpBetween.To)
	}
	shortest, longest := back.From.Sub(went.To), back.To.Sub(went.From)
	if o.Duration+o.Resolution() < shortest || o.Duration-o.Resolution() > longest {
		t.Errorf("%s: it took %v to %v, and was recorded as %v, exact to %v", name, shortest, longest, o.Duration, o.Resolution())
	}
	t.Logf("%s: %v to %v, recorded as %v, exact to %v", name, shortest, longest, o.Duration, o.Resolution())
}

// mustSee is what each watcher sees before the server listens again, and before
// it is ready.
var mustSee = map[string][]outages.State{
	"tcp":     {outages.Refused, outages.Ready},
	"http":    {outages.Refused, outages.Unready},
	"proxied": {outages.Accepting, outages.Unready},
	"command": {outages.Failing, outages.Failing},
}

// checkPhases checks what must have been seen, in whatever steps.
func checkPhases(t *testing.T, name string, o *outages.Outage) {
	t.Helper()
	seen := map[outages.State]bool{}
	for _, p := range o.Details.Phases {
		seen[p.State] = true
		if p.State == outages.Unready && p.Status != 503 {
			t.Errorf("%s: %+v", name, p)
		}
	}
	for _, state := range mustSee[name] {
		if !seen[state] && state != outages.Ready {
			t.Errorf("%s: no phase %s: %s", name, state, told(o))
		}
	}
	d := o.Details
	switch {
	case (d.TCP != nil) != (name == "tcp" || name == "http"):
		t.Errorf("%s: by TCP: %v", name, d.TCP)
	case (d.HTTP != nil) != (name == "proxied" || name == "http"):
		t.Errorf("%s: by HTTP: %v", name, d.HTTP)
	case name == "http" && !d.TCP.To.Before(d.HTTP.To):
		t.Errorf("it accepted at %v and was ready at %v", d.TCP.To, d.HTTP.To)
	}
}

// An outage that goes on when the watch ends is given back, and not recorded.
func TestStillAway(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := watchTarget(t, mustTarget(t, "tcp://"+listener.Addr().String()), 0)
	w.until(t, Present)
	listener.Close()
	w.until(t, Down)
	w.stop()
	if w.err != nil || w.open == nil || w.open.State != outages.Refused || len(w.list) != 0 {
		t.Errorf("%v, %+v, %v", w.err, w.open, w.list)
	}
}

// One from which it is back, but not for long enough, is recorded.
func TestBackForAMoment(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := listener.Addr().String()
	w := watchTarget(t, mustTarget(t, "tcp://"+addr), time.Hour)
	w.until(t, Present)
	listener.Close()
	w.until(t, Down)
	if listener, err = net.Listen("tcp", addr); err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	w.until(t, Back)
	w.stop()
	if w.open != nil || len(w.list) != 1 {
		t.Errorf("%+v, %v", w.open, w.list)
	}
}

// A server that takes the request and keeps silent.
func TestSilence(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	target := mustTarget(t, "http://"+listener.Addr().String())
	s, err := target.prober(100 * time.Millisecond)(context.Background())
	if err != nil || s.State != outages.Accepting || s.Connected.IsZero() || s.End.Sub(s.Start) < 100*time.Millisecond {
		t.Errorf("%v, %+v", err, s)
	}
	unknown := mustTarget(t, "http://no-such-name.invalid/")
	if s, _ := unknown.prober(5 * time.Second)(context.Background()); s.State != outages.Unreachable || s.Why == "" {
		t.Errorf("%+v", s)
	}
}

func TestCommands(t *testing.T) {
	try := func(timeout time.Duration, argv ...string) (Sample, error) {
		return (&Target{Command: argv}).prober(timeout)(context.Background())
	}
	if s, err := try(time.Minute, "sh", "-c", "echo out; exit 7"); err != nil || s.State != outages.Failing || s.Status != 7 {
		t.Errorf("%v, %+v", err, s)
	}
	if s, err := try(time.Minute, "true"); err != nil || !s.Good() {
		t.Errorf("%v, %+v", err, s)
	}
	if s, err := try(200*time.Millisecond, "sleep", "60"); err != nil || s.State != outages.Failing || s.Why != "it took longer than 200ms" {
		t.Errorf("%v, %+v", err, s)
	}
	var start *process.StartError
	w := watchTarget(t, Target{Command: []string{filepath.Join(t.TempDir(), "none")}}, 0)
	<-w.done
	if !errors.As(w.err, &start) {
		t.Errorf("%v", w.err)
	}
}
