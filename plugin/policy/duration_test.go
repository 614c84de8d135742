package policy

import (
	"math/big"
	"strings"
	"testing"

	"outlast/abi/strictjson"

	"pgregory.net/rapid"
)

func TestParseDuration(t *testing.T) {
	for s, want := range map[string]int64{
		"150s":               150_000_000,
		"500ms":              500_000,
		"42.5s":              42_500_000,
		"3200ms":             3_200_000,
		"1us":                1,
		"2m30s":              150_000_000,
		"1h":                 3_600_000_000,
		"1.5m":               90_000_000,
		"0.0000001m":         6,
		"0.00000001h":        36,
		"0.001ms":            1,
		"0.000001s":          1,
		"007s":               7_000_000,
		"1h2m3s4ms5us":       3_723_004_005,
		"30s2m":              150_000_000,
		"0s":                 0,
		"9007199254740991us": strictjson.MaxInteger,
		"2501999h47m":        2501999*3_600_000_000 + 47*60_000_000,
	} {
		if got, ok := parseDuration(s); got != want || !ok {
			t.Errorf("parseDuration(%q) = %d, %t; want %d", s, got, ok, want)
		}
	}
}

func TestParseDurationRefuses(t *testing.T) {
	for _, s := range []string{
		"", " ", "s", "ms", "150", "1.5", "-1s", "+1s", "1e3s", "1,5s", "1 s", " 1s", "1s ", "1S", "1Ms", "1MS", "1sec", "1min", "1d", "1ns", "1µs",
		".5s", "5.s", "1..5s", "1.2.3s", "s1", "1s2", "NaNs", "infs", "1h-1m", "0x10s", "１s", "1_000s",
		"0.5us", "0.0001ms", "0.0000001s", "0.00000001m", "0.000000001h", // not whole microseconds
		"9007199254740992us", "9007199254740993us", "9007199255s", "150119988m", "2501999h48m", "99999999999999999999h", "9007199254740991us1us", "1e999999999s",
	} {
		if got, ok := parseDuration(s); ok {
			t.Errorf("parseDuration(%q) = %d is accepted", s, got)
		}
	}
}

func TestFormatDuration(t *testing.T) {
	for micros, want := range map[int64]string{
		0: "0us", 1: "1us", 999: "999us", 1000: "1ms", 1001: "1.001ms", 500_000: "500ms", 999_999: "999.999ms", 1_000_000: "1s",
		42_500_000: "42.5s", 150_000_000: "150s", 3_600_000_001: "3600.000001s", strictjson.MaxInteger: "9007199254.740991s",
	} {
		if got := formatDuration(micros); got != want {
			t.Errorf("formatDuration(%d) = %q, want %q", micros, got, want)
		}
	}
}

func TestDurationRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		micros := rapid.OneOf(rapid.Int64Range(0, 10_000_000), rapid.Int64Range(0, strictjson.MaxInteger)).Draw(t, "micros")
		if back, ok := parseDuration(formatDuration(micros)); back != micros || !ok {
			t.Fatalf("%d is written as %q and read as %d, %t", micros, formatDuration(micros), back, ok)
		}
	})
}

// durationByBig is parseDuration by arithmetic of any precision.
func durationByBig(s string) (int64, bool) {
	sum := new(big.Rat)
	for s != "" {
		n := strings.IndexFunc(s, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
		if n <= 0 || s[0] == '.' || s[n-1] == '.' || strings.Count(s[:n], ".") > 1 {
			return 0, false
		}
		value, _ := new(big.Rat).SetString(s[:n])
		steps, micros := int64(0), int64(0) // the smallest decimals, and what one is
		for _, u := range []struct {
			name          string
			steps, micros int64
		}{{"us", 1, 1}, {"ms", 1e3, 1}, {"s", 1e6, 1}, {"m", 1e7, 6}, {"h", 1e8, 36}} {
			if strings.HasPrefix(s[n:], u.name) {
				steps, micros, s = u.steps, u.micros, s[n+len(u.name):]
				break
			}
		}
		value.Mul(value, new(big.Rat).SetInt64(steps))
		if steps == 0 || !value.IsInt() {
			return 0, false
		}
		sum.Add(sum, value.Mul(value, new(big.Rat).SetInt64(micros)))
	}
	return sum.Num().Int64(), sum.Num().Cmp(big.NewInt(strictjson.MaxInteger)) <= 0
}

func FuzzParseDuration(f *testing.F) {
	for _, s := range []string{"150s", "2m30s", "0.000001s", "1h1m1s1ms1us", "9007199254740991us", "0.0000001m", "1.5", "00.10ms", "99999999h"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, ok := parseDuration(s)
		if s == "" || len(s) > 300 {
			return
		}
		if want, wantOK := durationByBig(s); ok != wantOK || ok && got != want {
			t.Fatalf("parseDuration(%q) = %d, %t; math/big says %d, %t", s, got, ok, want, wantOK)
		}
	})
}

func TestDecimalOf(t *testing.T) {
	for _, c := range []struct {
		n      int64
		digits int
		want   string
	}{
		{0, 6, "0"}, {1, 6, "0.000001"}, {100_000, 6, "0.1"}, {1_000_000, 6, "1"}, {1_500_000, 6, "1.5"}, {20_000_000, 6, "20"}, {1200, 0, "1200"}, {0, 0, "0"}, {15, 1, "1.5"},
	} {
		if got := decimalOf(c.n, c.digits); got != c.want {
			t.Errorf("decimalOf(%d, %d) = %q, want %q", c.n, c.digits, got, c.want)
		}
	}
}
