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
				case MetLeftOut:
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
