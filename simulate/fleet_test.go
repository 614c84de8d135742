package simulate

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"outlast/abi"
)

func fleet(t testing.TB, window time.Duration, outage time.Duration, callers int) *Fleet {
	doc := builtin(t, "omnigraph", window)
	return &Fleet{
		Policy: doc, Call: *reader(0), Callers: callers,
		Scene: Scene{Away: []Span{{0, outage}}, Results: results},
		Check: func(call abi.Call) Decider { return NewNative(doc, &call) },
	}
}

// The herd at the deadline, as it was computed with another program (100,000
// callers, 40,000 runs of a lag: see RATIONALE.md on the clamp).
func TestTheHerd(t *testing.T) {
	for _, test := range []struct {
		window, outage time.Duration
		low, high      float64
	}{
		{75 * time.Second, 58 * time.Second, 0.02, 0.08},
		{61 * time.Second, 60500 * time.Millisecond, 0.95, 1},
	} {
		f := fleet(t, test.window, test.outage, 20_000)
		report, err := f.Run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		peak, at := report.Peak()
		share := float64(peak) / float64(report.Callers)
		t.Logf("window %v, outage %v: %.3f at %v", test.window, test.outage, share, at)
		if share < test.low || share > test.high {
			t.Errorf("window %v, outage %v: the largest share in 100 ms is %.3f", test.window, test.outage, share)
		}
		if report.Served != report.Callers || report.Checked < 1000 {
			t.Errorf("%d served, %d decisions checked", report.Served, report.Checked)
		}
	}
}

// A caller of a fleet does what a call by itself does.
func TestFleetsAreCalls(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(rt *rapid.T) {
		f := fleet(t, time.Duration(rapid.IntRange(5, 90).Draw(rt, "window"))*time.Second, time.Duration(rapid.IntRange(1, 80_000).Draw(rt, "outage"))*time.Millisecond, 50)
		f.Seed = rapid.Uint64().Draw(rt, "seed")
		f.Scene.Takes = time.Duration(rapid.IntRange(0, 3000).Draw(rt, "takes")) * time.Millisecond
		f.Arrivals.Over = time.Duration(rapid.IntRange(0, 100_000).Draw(rt, "over")) * time.Millisecond
		f.Call.Write = rapid.Bool().Draw(rt, "write")
		if rapid.Bool().Draw(rt, "loads") {
			f.Scene.Loading = time.Duration(rapid.IntRange(1, 30_000).Draw(rt, "loading")) * time.Millisecond
			f.Scene.Away[0].To += f.Scene.Loading
		}
		if rapid.Bool().Draw(rt, "watched") { // all look together, as one call does
			f.Scene.Watch = &Watch{Confirmed: 300 * time.Millisecond}
		}
		if rapid.Bool().Draw(rt, "twice") {
			from := f.Scene.Away[0].To + time.Duration(rapid.IntRange(1, 20_000).Draw(rt, "gap"))*time.Millisecond
			f.Scene.Away = append(f.Scene.Away, Span{from, from + 20*time.Second})
		}
		report, err := f.Run(ctx)
		if err != nil {
			rt.Fatal(err)
		}
		r := &run{Fleet: f}
		begins := f.Arrivals.begins(f.Callers, f.Seed, 0)
		want := Report{}
		var all bins
		for id, begin := range begins {
			call := r.call(uint32(id))
			story, err := Play(ctx, NewNative(f.Policy, &call), &f.Scene, begin, nil)
			if err != nil {
				rt.Fatal(err)
			}
			for _, m := range story.Moments {
				switch m.Met {
				case MetDown:
					all.at(m.At).Arrivals++
					all.at(m.At).Wasted++
				case MetUp:
					all.at(m.At).Arrivals++
					all.at(m.At).Served++
				case MetLeftOut, MetLoading:
					want.LeftOut++
				}
			}
			if story.OK() {
				want.Served++
			}
		}
		if want.Served != report.Served || want.LeftOut != report.LeftOut || !reflect.DeepEqual([]Bin(all), report.Bins) {
			rt.Fatalf("by themselves %d are served and %d left out; in the fleet %d and %d\n%v\n%v", want.Served, want.LeftOut, report.Served, report.LeftOut, all, report.Bins)
		}
	})
}

// The report does not depend on how many processors there are, and every caller
// and every attempt is accounted for, whatever the server does.
func TestFleetsAddUp(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(rt *rapid.T) {
		f := fleet(t, time.Duration(rapid.IntRange(5, 90).Draw(rt, "window"))*time.Second, time.Duration(rapid.IntRange(1, 40_000).Draw(rt, "outage"))*time.Millisecond, rapid.IntRange(1, 600).Draw(rt, "callers"))
		f.Server = Server{PerSecond: rapid.Int64Range(0, 200).Draw(rt, "capacity"), RelapseAt: rapid.IntRange(0, 200).Draw(rt, "relapse"), RelapseFor: 10 * time.Second}
		if f.Server.PerSecond > 0 {
			f.Server.AdmissionCap = rapid.IntRange(0, 50).Draw(rt, "cap")
		}
		if rapid.Bool().Draw(rt, "watched") {
			f.Scene.Watch = &AsHost
		}
		f.Arrivals.Over = time.Duration(rapid.IntRange(0, 50_000).Draw(rt, "over")) * time.Millisecond
		f.Courses = rapid.IntRange(0, 100).Draw(rt, "courses")
		f.PerMachine = rapid.IntRange(0, 60).Draw(rt, "machine")
		f.Call.Write = rapid.Bool().Draw(rt, "write")
		report, err := f.Run(ctx)
		if err != nil {
			rt.Fatal(err)
		}
		gone := report.Served
		for _, n := range report.GaveUp {
			gone += n
		}
		if gone != f.Callers || report.Attempts-report.Wasted != report.Served {
			rt.Fatalf("%d of %d callers are accounted for; %d attempts, %d wasted, %d served", gone, f.Callers, report.Attempts, report.Wasted, report.Served)
		}
		if f.Call.Write && (report.InDoubt != report.Broken || report.Twice > 0) {
			rt.Fatalf("%d calls broke, %d of them were told that they are in doubt, and %d were carried out all the same", report.Broken, report.InDoubt, report.Twice)
		}
		again, err := f.Run(ctx)
		if err != nil {
			rt.Fatal(err)
		}
		a, _ := json.Marshal(report)
		b, _ := json.Marshal(again)
		if string(a) != string(b) {
			rt.Fatalf("%s\n%s", a, b)
		}
	})
}

// A stampede knocks the server over again, and what was in it breaks.
func TestRelapse(t *testing.T) {
	f := fleet(t, 0, 60500*time.Millisecond, 2000)
	f.Server = Server{PerSecond: 100, RelapseAt: 50, RelapseFor: 20 * time.Second}
	report, err := f.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if report.Relapses == 0 || len(report.Away) != 1+report.Relapses || report.Served == 0 {
		t.Errorf("%d relapses, served %d, gave up: %v", report.Relapses, report.Served, report.GaveUp)
	}
	f.Call.Write = true // a write that broke may have been applied, and is not repeated
	report, err = f.Run(context.Background())
	if err != nil || report.GaveUp["interrupted, indeterminate"] == 0 {
		t.Errorf("gave up: %v: %v", report.GaveUp, err)
	}
	for i := 1; i < len(report.Away); i++ {
		if report.Away[i].From <= report.Away[i-1].To {
			t.Errorf("outages overlap: %v", report.Away)
		}
	}
}

// stampede is a fleet that watches, and a server that too many at once knock over.
func stampede(t testing.TB, callers int, capacity int64, relapseAt int) *Fleet {
	f := fleet(t, 0, 60500*time.Millisecond, callers)
	f.Scene.Watch, f.Check = &AsHost, nil
	f.Server = Server{PerSecond: capacity, RelapseAt: relapseAt, RelapseFor: 20 * time.Second}
	return f
}

// Whoever all come back at once knock the server over once, and come back by and by
// then. Nobody is lost to it but writes that were in it, which are told so.
func TestAStampedeEnds(t *testing.T) {
	ctx := context.Background()
	play := func(change ...func(*Fleet)) *Report {
		f := stampede(t, 20_000, 2000, 3000)
		for _, c := range change {
			c(f)
		}
		report, err := f.Run(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return report
	}
	write := func(f *Fleet) { f.Call.Write = true }
	outage := 60500 * time.Millisecond
	served := func(r *Report, share float64) time.Duration {
		after, ever := r.Recovered(share)
		if !ever {
			t.Fatalf("%.2f are never served; %d relapses, gave up: %v", share, r.Relapses, r.GaveUp)
		}
		return outage + after
	}
	schedule := play(func(f *Fleet) { f.Scene.Watch = nil })
	if r := play(); r.Relapses > 1 || r.Served != r.Callers || float64(served(r, 0.99)) > 1.3*float64(served(schedule, 0.99)) {
		t.Errorf("reads: %d relapses, %d served, 99 %% after %v, by the schedule after %v", r.Relapses, r.Served, served(r, 0.99), served(schedule, 0.99))
	}
	if r := play(write); r.Relapses > 1 || r.Broken == 0 || r.InDoubt != r.Broken || r.Served+r.InDoubt != r.Callers || r.Twice > 0 {
		t.Errorf("writes: %d relapses, %d broke, %d in doubt, %d served, %d twice", r.Relapses, r.Broken, r.InDoubt, r.Served, r.Twice)
	}
	apart := func(f *Fleet) {
		doc, err := f.Policy.WithSpread(10_000_000)
		if err != nil {
			t.Fatal(err)
		}
		f.Policy = doc
	}
	turns := func(f *Fleet) { f.PerMachine = 50 }
	for name, change := range map[string]func(*Fleet){"a spread of 10 s": apart, "50 on a machine": turns} {
		r := play(write, change)
		if r.Relapses > 0 || r.Served != r.Callers || served(r, 1) > outage+11*time.Second {
			t.Errorf("%s: %d relapses, %d served, the last after %v", name, r.Relapses, r.Served, served(r, 1))
		}
	}
}

// Whoever is alone on a machine does what a caller without one does.
func TestOneOfAMachineFeelsNothing(t *testing.T) {
	var reports []string
	for _, n := range []int{1, 50} {
		f := stampede(t, 1, 100, 0)
		f.PerMachine = n
		report, err := f.Run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		text, _ := json.Marshal(report)
		reports = append(reports, string(text))
	}
	if reports[0] != reports[1] {
		t.Errorf("%s\n%s", reports[0], reports[1])
	}
}

// The callers of one machine come at the pace at which those before are answered.
func TestTurns(t *testing.T) {
	f := stampede(t, 500, 50, 0)
	f.PerMachine = 500
	report, err := f.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	last, ever := report.Recovered(1)
	if peak, _ := report.Peak(); peak > 30 || !ever || last > 12*time.Second {
		t.Errorf("at most %d in 100 ms, the last one after %v", peak, last)
	}
}

// So many are safe, and a tenth more are not.
func TestSafe(t *testing.T) {
	ctx := context.Background()
	for _, callers := range []int{100, 2000} {
		f := stampede(t, callers, 200, 300)
		report, err := f.Run(ctx)
		if err != nil {
			t.Fatal(err)
		}
		n, err := f.Safe(ctx, report)
		if err != nil || n < 300 || n > 1000 {
			t.Fatalf("%d callers: %v", n, err)
		}
		for _, test := range []struct {
			callers int
			falls   bool
		}{{n, false}, {n + n/10, true}} {
			f.Callers = test.callers
			if report, err = f.Run(ctx); err != nil || (report.Relapses > 0) != test.falls {
				t.Errorf("%d of %d callers: %d relapses, %v", test.callers, n, report.Relapses, err)
			}
		}
	}
}

// A plugin that decides otherwise is found.
func TestADifferenceIsFound(t *testing.T) {
	f := fleet(t, 0, 10*time.Second, 100)
	other := builtin(t, "omnigraph", 149*time.Second)
	f.Check = func(call abi.Call) Decider { return NewNative(other, &call) }
	if _, err := f.Run(context.Background()); err == nil {
		t.Error("nothing is found")
	}
}

func TestBadFleets(t *testing.T) {
	for name, change := range map[string]func(*Fleet){
		"callers":  func(f *Fleet) { f.Callers = 0 },
		"too many": func(f *Fleet) { f.Callers = MaxCallers + 1 },
		"outages":  func(f *Fleet) { f.Scene.Away = nil },
		"capacity": func(f *Fleet) { f.Server.PerSecond = -1 },
		"cap":      func(f *Fleet) { f.Server.AdmissionCap = 5 },
		"relapse":  func(f *Fleet) { f.Server.RelapseAt = 5 },
	} {
		f := fleet(t, 0, time.Second, 10)
		change(f)
		if _, err := f.Run(context.Background()); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestPoisson(t *testing.T) {
	list := Arrivals{PerSecond: 500}.begins(100_000, 3, time.Second)
	if last := list[len(list)-1]; last < 195*time.Second || last > 207*time.Second || list[0] < time.Second {
		t.Errorf("100000 calls at 500 a second take %v", last)
	}
}

func BenchmarkFleet(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			f := fleet(b, 0, 61*time.Second, n)
			f.Courses = 100_000
			for b.Loop() {
				if _, err := f.Run(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "callers/s")
		})
	}
}
