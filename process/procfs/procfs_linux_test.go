package procfs

import (
	"os"
	"testing"
)

func TestParseStat(t *testing.T) {
	const rest = " 40 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 98765 1000"
	for _, c := range []struct {
		stat string
		want Process
		ok   bool
	}{
		{"12 (sleep) S 1 40" + rest, Process{12, 1, 40, 'S', 98765}, true},
		{"12 (sleep) Z 7 40" + rest, Process{12, 7, 40, 'Z', 98765}, true},
		{"12 (a) S 1 9 (b) T 3 40" + rest, Process{12, 3, 40, 'T', 98765}, true}, // the name is "a) S 1 9 (b"
		{"12 (a b) S 1 40", Process{}, false},
		{"12 (a", Process{}, false},
		{"", Process{}, false},
	} {
		if got, ok := parse(12, []byte(c.stat)); ok != c.ok || got != c.want {
			t.Errorf("%q: %+v, %v", c.stat, got, ok)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("12 (sleep) S 1 40 40 0 -1"))
	f.Add([]byte(")"))
	f.Fuzz(func(t *testing.T, stat []byte) { parse(1, stat) })
}

// What is said of this process is true of it.
func TestProcessesAreTheSystems(t *testing.T) {
	for _, c := range All() {
		if c.PID != os.Getpid() {
			continue
		}
		now := TicksNow()
		if c.Parent != os.Getppid() || !c.Runs() || c.Started > now || c.Started < now-100*3600*TicksPerSecond {
			t.Errorf("%+v, and the time is %d", c, now)
		}
		return
	}
	t.Error("this process is not among them")
}
