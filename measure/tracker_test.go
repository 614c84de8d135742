package measure

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"outlast/outages"
	"outlast/ready"
)

var epoch = time.Date(2026, 8, 3, 21, 20, 21, 0, time.UTC)

func ms(n int) time.Time { return epoch.Add(time.Duration(n) * time.Millisecond) }

// look is a sample from one millisecond to another.
func look(from, to int, state outages.State) Sample {
	s := Sample{Start: ms(from), End: ms(to), State: state}
	if state != outages.Refused && state != outages.Unreachable {
		s.Connected = ms(from)
	}
	return s
}

func tracked(hold time.Duration) *tracker {
	return &tracker{
		target: &Target{Target: ready.Target{Scheme: "http", Host: "graph", Port: "8080", Path: "/healthz"}},
		every:  100 * time.Millisecond, hold: hold, host: "laptop", tool: "test",
	}
}

// fed are the events of samples, and the outages among them.
func fed(t *testing.T, tr *tracker, samples ...Sample) (kinds []EventKind, list []outages.Outage) {
	t.Helper()
	for _, s := range samples {
		e := tr.feed(s)
		kinds = append(kinds, e.Kind)
		if e.Kind == Ended {
			list = append(list, *e.Outage)
		}
	}
	mustBeWritable(t, list)
	return kinds, list
}

func TestOneOutage(t *testing.T) {
	kinds, list := fed(t, tracked(time.Second),
		look(0, 2, outages.Ready),
		look(100, 101, outages.Refused),
		look(200, 201, outages.Refused),
		look(300, 350, outages.Accepting),
		look(400, 402, outages.Ready),
		look(900, 901, outages.Ready),
		look(1500, 1501, outages.Ready),
	)
	want := []EventKind{Present, Down, Same, Changed, Back, Same, Ended}
	for i := range want {
		if kinds[i] != want[i] {
			t.Errorf("event %d: %d; want %d", i, kinds[i], want[i])
		}
	}
	if len(list) != 1 {
		t.Fatal(list)
	}
	o, d := list[0], list[0].Details
	if got := told(&o); got != "302ms 21:20:21 to 21:20:21: refused 200ms accepting 102ms" {
		t.Error(got)
	}
	if d.DownBetween != (outages.Span{From: ms(0), To: ms(101)}) || d.UpBetween != (outages.Span{From: ms(300), To: ms(402)}) {
		t.Errorf("%+v", d)
	}
	if *d.TCP != (outages.Span{From: ms(100), To: ms(300)}) || *d.HTTP != (outages.Span{From: ms(100), To: ms(402)}) {
		t.Errorf("%+v, %+v", d.TCP, d.HTTP)
	}
	if o.Resolution() != 103*time.Millisecond || o.Longest() != 402*time.Millisecond {
		t.Errorf("%v, %v", o.Resolution(), o.Longest())
	}
	if o.Name != "http://graph:8080/healthz at 2026-08-03T21:20:21.1Z" || o.Source != "outlast measure http://graph:8080/healthz from laptop every 100ms, exact to 103ms" {
		t.Errorf("%q, %q", o.Name, o.Source)
	}
}

// A proxy that accepts all the while: nothing can be said of the port.
func TestBehindAProxy(t *testing.T) {
	bad := look(100, 101, outages.Unready)
	bad.Status = 502
	_, list := fed(t, tracked(0), look(0, 1, outages.Ready), bad, look(200, 201, outages.Ready))
	if len(list) != 1 || list[0].Details.TCP != nil || list[0].Details.Phases[0].Status != 502 {
		t.Errorf("%+v", list)
	}
}

// It comes back for a moment, in which it is not over.
func TestFlapping(t *testing.T) {
	samples := []Sample{
		look(0, 1, outages.Ready),
		look(100, 101, outages.Refused),
		look(200, 201, outages.Ready),
		look(300, 301, outages.Refused),
		look(400, 401, outages.Accepting),
		look(500, 501, outages.Ready),
		look(2000, 2001, outages.Ready),
	}
	_, list := fed(t, tracked(time.Second), samples...)
	if len(list) != 1 || told(&list[0]) != "401ms 21:20:21 to 21:20:21: refused 100ms ready 100ms refused 100ms accepting 101ms" {
		t.Errorf("%+v", list)
	}
	if tcp := list[0].Details.TCP; *tcp != (outages.Span{From: ms(100), To: ms(400)}) {
		t.Errorf("%+v", tcp)
	}
	_, list = fed(t, tracked(0), samples...)
	if len(list) != 2 {
		t.Errorf("without a hold: %+v", list)
	}
}

// Who begins to watch in an outage does not know how long it lasts.
func TestBeginningInAnOutage(t *testing.T) {
	kinds, list := fed(t, tracked(0),
		look(0, 1, outages.Refused), look(100, 101, outages.Refused), look(200, 201, outages.Unready), look(300, 301, outages.Ready))
	if len(list) != 0 || kinds[0] != Absent || kinds[1] != Same || kinds[2] != Absent || kinds[3] != Present {
		t.Errorf("%v, %+v", kinds, list)
	}
}

func TestForgotten(t *testing.T) {
	tr := tracked(0)
	fed(t, tr, look(0, 1, outages.Ready), look(100, 101, outages.Refused))
	tr.forget()
	if kinds, list := fed(t, tr, look(200, 201, outages.Ready)); len(list) != 0 || kinds[0] != Present {
		t.Errorf("%v, %+v", kinds, list)
	}
}

func TestClockJumps(t *testing.T) {
	for _, c := range []struct {
		wall, steady time.Duration
		want         bool
	}{
		{100 * time.Millisecond, 100 * time.Millisecond, false},
		{1090 * time.Millisecond, 100 * time.Millisecond, false},
		{time.Hour, 100 * time.Millisecond, true},
		{-time.Minute, 100 * time.Millisecond, true},
	} {
		if got := apart(c.wall, c.steady); got != c.want {
			t.Errorf("%v", c)
		}
	}
	now := time.Now()
	if jumped(now, now.Add(time.Hour)) {
		t.Error("an hour on both clocks is no jump")
	}
}

// More phases than a file takes.
func TestFlappingForEver(t *testing.T) {
	samples := []Sample{look(0, 1, outages.Ready)}
	for i := range 2 * outages.MaxPhases {
		samples = append(samples, look(100+10*i, 101+10*i, []outages.State{outages.Refused, outages.Accepting}[i%2]))
	}
	last := 200 + 10*len(samples)
	_, list := fed(t, tracked(0), append(samples, look(last, last+1, outages.Ready))...)
	if len(list) != 1 || len(list[0].Details.Phases) != outages.MaxPhases || list[0].Duration != ms(last+1).Sub(ms(100)) {
		t.Errorf("%d outages", len(list))
	}
}

// A server that comes and goes as it likes, and looks that take as long as they
// like and see it at any moment of theirs: it went and came back within what an
// outage states, and where it stood still in between, the duration is as exact
// as stated.
func TestBoundsHold(t *testing.T) {
	found := 0
	rapid.Check(t, func(r *rapid.T) {
		truth := []int{0} // when it changes, in ms; it is up first
		for range rapid.IntRange(2, 12).Draw(r, "changes") {
			truth = append(truth, truth[len(truth)-1]+rapid.IntRange(1, 3000).Draw(r, "stays"))
		}
		up := func(at int) bool {
			n := 0
			for _, change := range truth[1:] {
				if change <= at {
					n++
				}
			}
			return n%2 == 0
		}
		tr := tracked(time.Duration(rapid.IntRange(0, 1500).Draw(r, "hold")) * time.Millisecond)
		end := truth[len(truth)-1] + 4000
		var list []outages.Outage
		for at := 0; at < end; {
			took := rapid.IntRange(0, 300).Draw(r, "took")
			state := outages.Refused
			if up(at + rapid.IntRange(0, took).Draw(r, "seen")) {
				state = outages.Ready
			}
			if e := tr.feed(look(at, at+took, state)); e.Kind == Ended {
				list = append(list, *e.Outage)
			}
			at += took + rapid.IntRange(1, 300).Draw(r, "pause")
		}
		if _, err := outages.Format(list); err != nil {
			r.Fatal(err)
		}
		for i := range list {
			found++
			checkBounds(r, &list[i], truth)
		}
	})
	if found == 0 {
		t.Error("there was no outage")
	}
}

// checkBounds compares an outage with when the server really went and came:
// truth[1], truth[3] and so on are when it went.
func checkBounds(r *rapid.T, o *outages.Outage, truth []int) {
	var went, came []int
	for i, change := range truth[1:] {
		bounds, list := o.Details.DownBetween, &went
		if i%2 == 1 {
			bounds, list = o.Details.UpBetween, &came
		}
		if at := ms(change); !at.Before(bounds.From) && !at.After(bounds.To) {
			*list = append(*list, change)
		}
	}
	if len(went) == 0 || len(came) == 0 {
		r.Fatalf("nothing happened within the bounds of %+v: %v", o.Details, truth)
	}
	if len(went) == 1 && len(came) == 1 {
		really := ms(came[0]).Sub(ms(went[0]))
		if off := (o.Duration - really).Abs(); off > o.Resolution() || really > o.Longest() {
			r.Fatalf("%v was measured as %v, which is exact to %v, and at most %v", really, o.Duration, o.Resolution(), o.Longest())
		}
	}
}

func TestTargets(t *testing.T) {
	for text, want := range map[string]string{
		"tcp://graph:8080":                "tcp://graph:8080",
		"TCP://[::1]:1/":                  "tcp://[::1]:1",
		"http://graph":                    "http://graph:80/healthz",
		"http://graph/":                   "http://graph:80/",
		"https://graph/health?token=x":    "https://graph:443/health",
		"http://graph:8080/h#200,401":     "http://graph:8080/h",
		"http://graph:8080?full=1":        "http://graph:8080/",
		"http://graph:8080/a%20b/healthz": "http://graph:8080/a%20b/healthz",
	} {
		target, err := ParseTarget(text)
		if err != nil || target.String() != want {
			t.Errorf("%s: %v, %s", text, err, target.String())
		}
	}
	target, _ := ParseTarget("http://graph/h#204,401")
	if !target.expects(204) || !target.expects(401) || target.expects(200) {
		t.Errorf("%+v", target)
	}
	for text, want := range map[string]string{
		"":                            "has none of the schemes",
		"graph:8080":                  "has none of the schemes",
		"ftp://graph":                 "has none of the schemes",
		"tcp://graph":                 "has no port",
		"tcp://:80":                   "has no host",
		"tcp://graph:80/x":            "more than a host and a port",
		"tcp://graph:0":               "which is not from 1 to 65535",
		"http://graph:99999":          "which is not from 1 to 65535",
		"http://graph/#ok":            `has the status "ok"`,
		"http://me:secret@graph/":     "has a user name",
		"http://me:secret@graph/\x7f": "is not a URL",
	} {
		_, err := ParseTarget(text)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v; want %q", text, err, want)
		}
	}
}
