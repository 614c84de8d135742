package policyflags

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParseBackoff(t *testing.T) {
	const ms, s, m = time.Millisecond, time.Second, time.Minute
	for text, want := range map[string]Backoff{
		"1s":               {s, s, 1},
		" 250ms ":          {250 * ms, 250 * ms, 1},
		"0.5s..10s":        {500 * ms, 10 * s, 2},
		"0.5s..10s*2":      {500 * ms, 10 * s, 2},
		"500ms .. 1m * 3":  {500 * ms, m, 3},
		"1s..1m30s*1.5":    {s, 90 * s, 1.5},
		"1us..1h*1":        {time.Microsecond, time.Hour, 1},
		"1s..1s":           {s, s, 2},
		"1s..9s*1.000001":  {s, 9 * s, 1.000001},
		"1s..9s*1000.0000": {s, 9 * s, 1000},
	} {
		if got, err := ParseBackoff(text); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for text, why := range map[string]string{
		"":                  "no duration",
		"1":                 "unit",
		"10":                "unit",
		"0s":                "longer than 0",
		"0":                 "longer than 0",
		"-1s":               "longer than 0",
		"1ns":               "whole microseconds",
		"1.0000001s":        "whole microseconds",
		"..":                "no duration",
		"1s..":              "no duration",
		"..1s":              "no duration",
		"1s...2s":           "", // .2s is a duration
		"2s..1s":            "shorter",
		"1s*2":              "longest",
		"1s..2s*":           "factor",
		"1s..2s*0.5":        "factor",
		"1s..2s*1001":       "factor",
		"1s..2s*1e2":        "factor",
		"1s..2s*NaN":        "factor",
		"1s..2s*Inf":        "factor",
		"1s..2s*0x10":       "factor",
		"1s..2s*+2":         "factor",
		"1s..2s*.5":         "factor",
		"1s..2s*2.":         "factor",
		"1s..2s*1.2345678":  "factor",
		"1s..2s*2*2":        "factor",
		"1s..2s..3s":        "no duration",
		"2540400h":          "2^53-1",
		"99999999999999h":   "no duration",
		"exponential(1, 2)": "no duration",
	} {
		got, err := ParseBackoff(text)
		if err == nil {
			t.Errorf("%q gave %v", text, got)
			continue
		}
		if !strings.Contains(err.Error(), why) || !strings.Contains(err.Error(), "0.5s..10s*2") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// What is written in the grammar is what is read.
func TestBackoffsAreReadAsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first := time.Duration(rapid.Int64Range(1, 1e12).Draw(t, "first")) * time.Microsecond
		longest := first + time.Duration(rapid.Int64Range(0, 1e12).Draw(t, "more"))*time.Microsecond
		got, err := ParseBackoff(first.String() + ".." + longest.String())
		if want := (Backoff{first, longest, 2}); err != nil || got != want {
			t.Fatalf("%v, %v, not %v", got, err, want)
		}
	})
}

func FuzzParseBackoff(f *testing.F) {
	for _, seed := range []string{"1s", "0.5s..10s*2", "1s..", "*", "1s..2s*1.5", "1µs", "1h1m1s..2h"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		b, err := ParseBackoff(text)
		if err != nil {
			return
		}
		if _, err := (&Flags{Backoff: &text, Repeatable: true}).Policy(Call{}); err != nil {
			t.Errorf("%q is %v, which makes no policy: %v", text, b, err)
		}
	})
}
