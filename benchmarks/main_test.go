package main

import (
	"testing"
	"time"
)

// The form is go test's; a name may have a number at its end, and no cores.
func TestParse(t *testing.T) {
	var all gauges
	parse("host", []byte("goos: linux\n"+
		"BenchmarkDecide/native-2         \t  100\t     5210 ns/op\t  12 B/op\n"+
		"BenchmarkDecide/native-2         \t  100\t     4990 ns/op\n"+
		"BenchmarkDecide/native-2         \t  100\t     9000 ns/op\n"+
		"BenchmarkCallers/2000/query \t       1\t 105.5 %-in-100ms\t 0 ns/op\n"+
		"BenchmarkWrapped/retry\n--- SKIP: not found\nPASS\n"), &all)
	if len(all) != 2 || all[0].name != "host/Decide/native" || all[1].name != "host/Callers/2000/query" {
		t.Fatalf("%+v", all)
	}
	if ns, ok := all[0].median("ns/op"); !ok || ns != 5210 {
		t.Errorf("median %v", ns)
	}
	if share, ok := all[1].median("%-in-100ms"); !ok || share != 105.5 {
		t.Errorf("share %v", share)
	}
	if got := all.matching("host/Decide/", "^nat"); len(got) != 1 || got[0].name != "native" {
		t.Errorf("matching: %+v", got)
	}
}

func TestQuantile(t *testing.T) {
	hundred := make([]int, 100)
	for i := range hundred {
		hundred[99-i] = i + 1
	}
	for part, want := range map[float64]int{0: 1, 0.5: 50, 0.99: 99, 1: 100} {
		if got := quantile(hundred, part); got != want {
			t.Errorf("%v of 1 to 100: %d, want %d", part, got, want)
		}
	}
	if got := quantile([]int{7, 3, 5}, 0.99); got != 7 {
		t.Errorf("of three the p99 is the worst, not %d", got)
	}
}

// Every call of every outage begins while the server is away, and with time for
// its first attempt to fail.
func TestCallsBeginInTheOutage(t *testing.T) {
	for _, length := range []time.Duration{3 * time.Second, 30 * time.Second} {
		r := outageRun{bench: &bench{count: 30}, tools: make([]tool, 16), length: length}
		for n := range r.count {
			for i := range r.tools {
				if at := r.begin(i, n); at < 0 || at > length-length/20 {
					t.Errorf("call %d of outage %d begins at %v of %v", i, n, at, length)
				}
			}
		}
	}
}

// An outage that a call did not meet is not counted as one that it survived, a
// write that was applied twice is told, and a call that failed has no lag.
func TestFigures(t *testing.T) {
	r := outageRun{bench: &bench{count: 4}, length: time.Second, tools: []tool{{name: outlastTools[0].name, call: "mutate"}}}
	samples := []sample{
		{survived: true, spawns: 2, lag: 50 * time.Millisecond, applied: 1},
		{survived: true, spawns: 4, lag: 70 * time.Millisecond, applied: 2},
		{survived: false, spawns: 9, lag: time.Hour},
		{survived: true, spawns: 1, missed: true},
	}
	want := figures{n: 3, survived: 2, twice: 1, missed: 1, p50: 50 * time.Millisecond, p99: 70 * time.Millisecond, most: 70 * time.Millisecond, spawns: 5, maxSpawns: 9}
	if got := r.figures(samples, 0); got != want {
		t.Errorf("%+v\n%+v", got, want)
	}
	for i, met := range []bool{true, true, false} {
		if g := r.goals(samples)[i]; g.met != met {
			t.Errorf("%+v", g)
		}
	}
}

// The lines that the benchmarks of Python and Node print.
func TestTransportLine(t *testing.T) {
	said := "CPython 3.11.7, 5 processes, 2000 pairs each\n\n| client | alone | more with outlast | of it |\n|---|---|---|---|\n" +
		"| httpx, asyncio | 410 µs | 12 µs | 2.9% |\n" + "undici's request, GET      120 µs, and -0.5 µs more (-0.4 %)\n"
	found := transportLine.FindAllStringSubmatch(said, -1)
	if len(found) != 2 || found[0][1] != "httpx, asyncio" || found[0][3] != "12" || found[1][1] != "undici's request, GET" || found[1][2] != "120" || found[1][3] != "-0.5" {
		t.Errorf("%q", found)
	}
}
