package policyflags

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseExits(t *testing.T) {
	for list, want := range map[string][]int64{
		"7":             {7},
		"28,7, 7":       {7, 28},
		"1-3":           {1, 2, 3},
		" 5 - 6 ,255":   {5, 6, 255},
		"9-9":           {9},
		"007":           {7},
		"3-5,4-6,1,1-1": {1, 3, 4, 5, 6},
	} {
		if got, err := ParseExits(list); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v", list, got, err)
		}
	}
	for _, list := range []string{"", ",", "7,", "x", "0", "0-3", "256", "-1", "1-", "1-2-3", "3-1", "1.5", "+7", "７", "99999999999999999999", "1 2"} {
		if got, err := ParseExits(list); err == nil {
			t.Errorf("%q gave %v", list, got)
		}
	}
}

// A list holds what its items say, and nothing else.
func TestListsHoldTheirItems(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var items []string
		var want [maxExit + 1]bool
		for range rapid.IntRange(1, 8).Draw(t, "items") {
			first := rapid.IntRange(1, maxExit).Draw(t, "first")
			last := rapid.IntRange(first, maxExit).Draw(t, "last")
			item := fmt.Sprintf("%d-%d", first, last)
			if first == last && rapid.Bool().Draw(t, "single") {
				item = fmt.Sprint(first)
			}
			items = append(items, item)
			for n := first; n <= last; n++ {
				want[n] = true
			}
		}
		got, err := ParseExits(strings.Join(items, ","))
		if err != nil {
			t.Fatal(err)
		}
		for n := range want {
			if slices.Contains(got, int64(n)) != want[n] {
				t.Fatalf("%v: %d is %v", items, n, !want[n])
			}
		}
	})
}

func FuzzParseExits(f *testing.F) {
	for _, seed := range []string{"7,28,100-110", "0", "1-", "-1", "255-1", ",", "٣"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, list string) {
		codes, err := ParseExits(list)
		if err != nil {
			return
		}
		if len(codes) == 0 || codes[0] < 1 || codes[len(codes)-1] > maxExit || !slices.IsSorted(codes) {
			t.Errorf("%q gave %v", list, codes)
		}
	})
}
