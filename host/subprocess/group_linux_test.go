package subprocess

import "testing"

func TestRunsInGroup(t *testing.T) {
	for _, c := range []struct {
		stat string
		want bool
	}{
		{"12 (sleep) S 1 40 40 0 -1", true},
		{"12 (sleep) R 1 40 40 0 -1", true},
		{"12 (sleep) Z 1 40 40 0 -1", false},
		{"12 (sleep) X 1 40 40 0 -1", false},
		{"12 (sleep) S 1 41 40 0 -1", false},
		{"40 (a) S 1 40 (b) Z 1 40 40 0 -1", false}, // the name is "a) S 1 40 (b"
		{"40 (a b) T 1 40 40", true},
		{"40 (a", false},
		{"", false},
	} {
		if got := runsInGroup([]byte(c.stat), 40); got != c.want {
			t.Errorf("%q: %v", c.stat, got)
		}
	}
}

func FuzzRunsInGroup(f *testing.F) {
	f.Add([]byte("12 (sleep) S 1 40 40 0 -1"), 40)
	f.Add([]byte(")"), 0)
	f.Fuzz(func(t *testing.T, stat []byte, pgid int) { runsInGroup(stat, pgid) })
}
