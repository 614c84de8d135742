package simulate

import (
	"testing"
)

func TestPlans(t *testing.T) {
	for text, want := range map[string]string{
		"61s":                        "",
		"20s@5s,30s@70s":             "",
		"uniform:52s..61s":           "",
		"uniform:52s..61s@3s,1s@70s": "",
		"-5s":                        "positive",
		"0s":                         "positive",
		"forever":                    "never ends",
		"":                           "never ends",
		"1000h":                      "longest",
		"61":                         "such as 61s",
		"20s@5s,30s@10s":             "overlap",
		"20s@5s,30s@25s":             "overlap",
		"20s@50s,30s@10s":            "in order",
		"20s@-5s":                    "when it begins",
		"uniform:61s..52s":           "before it begins",
		"uniform:61s":                "range",
		"100ns":                      "whole microseconds",
	} {
		plan, err := ParsePlan(text)
		switch {
		case want == "" && err != nil, want != "" && (err == nil || !contains(err.Error(), want)):
			t.Errorf("%q: got %v, want %q", text, err, want)
		case err == nil:
			for n := range uint64(50) {
				for i, s := range plan.Draw(1, n) {
					if d := s.To - s.From; d < plan[i].Low || d > plan[i].Max {
						t.Errorf("%q: drew %v", text, d)
					}
				}
			}
		}
	}
	for _, text := range []string{"", "together:1", "spread:0s", "spread:x", "poisson:0/s", "poisson:x", "apart"} {
		if _, err := ParseArrivals(text); err == nil {
			t.Errorf("arrivals %q: no error", text)
		}
	}
}

func contains(s, part string) bool {
	for i := range s {
		if len(s)-i >= len(part) && s[i:i+len(part)] == part {
			return true
		}
	}
	return false
}
