package progress

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"outlast/abi"
	"outlast/host"
)

const s = time.Second

// ended is an attempt that took 100 ms.
func ended(n int64, at time.Duration, ok bool) host.AttemptEnded {
	started := (at - 100*time.Millisecond).Microseconds()
	return host.AttemptEnded{Attempt: n, At: at, OK: ok, Result: abi.Result{StartedUS: &started}}
}

func waiting(attempt int64, at, delay, left time.Duration) host.Waiting {
	return host.Waiting{Kind: "unavailable", Budget: "unavailable", Attempt: attempt, At: at, Delay: delay, Remaining: &left}
}

func conflict(attempt int64, at, delay time.Duration) host.Waiting {
	return host.Waiting{Kind: "conflict", Budget: "conflict", Attempt: attempt, At: at, Delay: delay}
}

func after(events ...host.Event) *State {
	state := &State{}
	for _, e := range events {
		state.Add(e)
	}
	return state
}

// A wait that a signal ends counts as far as it went; one for a lost race is no
// outage; a repair is neither.
func TestWaitsAndOutages(t *testing.T) {
	for name, c := range map[string]struct {
		events []host.Event
		waited time.Duration
		outage string
	}{
		"cancelled": {[]host.Event{ended(1, 2*s, false), waiting(2, 2*s, 60*s, 150*s), host.Stopped{At: 5 * s}}, 3 * s, "3s true"},
		"a lost race": {[]host.Event{
			ended(1, 2*s, false), conflict(2, 2*s, s), ended(2, 4*s, true), host.Stopped{At: 4 * s},
		}, 1900 * time.Millisecond, "0s false"},
		"the wait goes on after the server was seen, and still is away": {[]host.Event{
			ended(1, 2*s, false), waiting(2, 2*s, s, 150*s), host.Woken{At: 3 * s}, waiting(2, 3*s, s, 149*s),
			ended(2, 5*s, true), host.Stopped{At: 5 * s},
		}, 2900 * time.Millisecond, "3s true"},
		"an outage is over when an attempt fails in another way": {[]host.Event{
			ended(1, 2*s, false), waiting(2, 2*s, s, 150*s), ended(2, 3*s, false),
			conflict(3, 3*s, s), ended(3, 60*s, true), host.Stopped{At: 60 * s},
		}, 57800 * time.Millisecond, "1s true"},
		"a repair": {[]host.Event{
			ended(1, 2*s, false), host.Repairing{At: 2 * s}, ended(2, 62*s, true), host.Stopped{At: 62 * s},
		}, 0, "0s false"},
		"a wait after a repair": {[]host.Event{
			ended(1, 2*s, false), host.Repairing{At: 2 * s}, conflict(2, 62*s, s), ended(2, 63100*time.Millisecond, true),
		}, s, "0s false"},
		"to load the plugin is part of the wait": {[]host.Event{
			ended(1, 6*s, false), waiting(2, 7*s, 5*s, 150*s), waiting(2, 8*s, 5*s, 149*s), host.Stopped{At: 9 * s},
		}, 3 * s, "3s true"},
		"no end was seen": {[]host.Event{ended(1, 2*s, false), waiting(2, 2*s, s, 150*s)}, 0, "0s false"},
	} {
		state := after(c.events...)
		d, ok := state.Outage()
		if got := fmt.Sprint(d, ok); state.Waited() != c.waited || got != c.outage {
			t.Errorf("%s: waited %v, away %s", name, state.Waited(), got)
		}
	}
	state := after(ended(1, 2*s, false), waiting(2, 2*s, s, 150*s))
	state.Finish(5 * s)
	if state.Waited() != 3*s || state.Finished != 5*s {
		t.Errorf("finished in a wait: %+v", state)
	}
}

// A delay counts from what the policy was told last: a server that was seen is
// such an event, and so is the end of a repair, which is not observed.
func TestDelaysCountFromTheLastEvent(t *testing.T) {
	for _, c := range []struct {
		last    host.Event
		from    time.Duration
		loading bool
	}{
		{ended(1, 7*s, false), 7 * s, false},
		{host.Woken{At: 8 * s}, 8 * s, false},
		{host.LeftOut{At: 9 * s}, 9 * s, false},
		{host.LeftOut{At: 9 * s, NotReady: true}, 9 * s, true},
		{host.Repairing{At: 5 * s}, 10 * s, false},
	} {
		want := Wait{Kind: "unavailable", Loading: c.loading, Attempt: 2, Opened: c.from, Window: 150 * s, Due: c.from + 5*s}
		if got := after(ended(1, 3*s, false), c.last, waiting(2, 10*s, 5*s, 150*s)).Wait; got != want {
			t.Errorf("%T: %+v, and not %+v", c.last, got, want)
		}
	}
	if after(host.LeftOut{NotReady: true}, ended(2, s, false), waiting(3, s, s, s)).Wait.Loading {
		t.Error("an attempt does not end what was seen before it")
	}
}

func TestWindowsOfSeveralBudgets(t *testing.T) {
	state := &State{}
	for _, step := range []struct {
		event          host.Waiting
		opened, window time.Duration
	}{
		{waiting(2, 0, s, 150*s), 0, 150 * s},
		{waiting(3, 2*s, s, 148*s), 0, 150 * s},
		{conflict(4, 3*s, 2*s), 3 * s, 0},
		{conflict(5, 9*s, 2*s), 3 * s, 0},
		{waiting(6, 60*s, s, 150*s), 60 * s, 150 * s}, // a new window
		{waiting(7, 90*s, s, 120*s), 60 * s, 150 * s},
	} {
		state.Add(step.event)
		if w := state.Wait; w.Opened != step.opened || w.Window != step.window {
			t.Errorf("%+v, and not %v, %v", w, step.opened, step.window)
		}
	}
}

// Each attempt has the kind of its own failure, which counts on its budget once.
func TestFailuresAreNamedOnce(t *testing.T) {
	stopped := host.Stopped{Outcome: abi.Outcome{Kind: "interrupted", Budget: "unavailable"}}
	state := after(
		ended(1, s, false), waiting(2, s, s, 150*s), waiting(2, 2*s, s, 149*s),
		ended(2, 3*s, false), host.Repairing{Kind: "needs_repair", At: 3 * s}, conflict(3, 4*s, s),
		ended(3, 5*s, false), stopped)
	got := ""
	for _, a := range state.Attempts {
		got += fmt.Sprintf("%d %s on %q; ", a.Number, a.Kind, a.Budget)
	}
	if want := `1 unavailable on "unavailable"; 2 needs_repair on ""; 3 interrupted on "unavailable"; `; got != want {
		t.Errorf("%s, and not %s", got, want)
	}
	if state.Repairs != 1 || len(state.Budgets) != 2 || state.Budgets[0].Attempts != 2 || state.Budgets[1].Attempts != 0 || state.Started != 900*time.Millisecond {
		t.Errorf("%+v", state)
	}
	succeeded := after(ended(1, s, false), waiting(2, s, s, s), ended(2, 3*s, true), host.Stopped{Outcome: abi.Outcome{Kind: "unavailable"}})
	if k := succeeded.Attempts[1].Kind; k != "" {
		t.Errorf("an attempt that succeeded has the kind %s", k)
	}
}

// Whatever comes, and whatever the clock does, nothing is negative, and no more
// is waited than has passed.
func TestTimesMakeSense(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		state, now := &State{}, time.Duration(0)
		for n := range rapid.Int64Range(1, 30).Draw(t, "events") {
			now += rapid.Custom(func(t *rapid.T) time.Duration { return time.Duration(rapid.IntRange(0, 1e9).Draw(t, "ns")) }).Draw(t, "passed")
			switch rapid.IntRange(0, 5).Draw(t, "event") {
			case 0:
				state.Add(host.AttemptEnded{Attempt: n, At: now})
			case 1:
				state.Add(waiting(n, now, s, time.Duration(rapid.IntRange(0, 1e9).Draw(t, "left"))))
			case 2:
				state.Add(conflict(n, now, s))
			case 3:
				state.Add(host.Woken{At: now})
			case 4:
				state.Add(host.LeftOut{At: now})
			case 5:
				state.Add(host.Repairing{At: now})
			}
		}
		state.Finish(now)
		if d, _ := state.Outage(); d < 0 || d > now || state.Waited() < 0 || state.Waited() > now {
			t.Fatalf("away %v, waited %v of %v", d, state.Waited(), now)
		}
	})
}
