package process

import (
	"os"
	"testing"
)

func TestParseStat(t *testing.T) {
	const rest = " 40 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 98765 1000"
	for _, c := range []struct {
		stat string
		want proc
		ok   bool
	}{
		{"12 (sleep) S 1 40" + rest, proc{12, 1, 40, 'S', 98765}, true},
		{"12 (sleep) Z 7 40" + rest, proc{12, 7, 40, 'Z', 98765}, true},
		{"12 (a) S 1 9 (b) T 3 40" + rest, proc{12, 3, 40, 'T', 98765}, true}, // the name is "a) S 1 9 (b"
		{"12 (a b) S 1 40", proc{}, false},
		{"12 (a", proc{}, false},
		{"", proc{}, false},
	} {
		if got, ok := parseStat(12, []byte(c.stat)); ok != c.ok || got != c.want {
			t.Errorf("%q: %+v, %v", c.stat, got, ok)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("12 (sleep) S 1 40 40 0 -1"))
	f.Add([]byte(")"))
	f.Fuzz(func(t *testing.T, stat []byte) { parseStat(1, stat) })
}

// What is said of this process is true of it.
func TestProcessesAreTheSystems(t *testing.T) {
	for _, c := range processes() {
		if c.pid != os.Getpid() {
			continue
		}
		now := ticksNow()
		if c.parent != os.Getppid() || !c.runs() || c.started > now || c.started < now-100*3600*ticksPerSecond {
			t.Errorf("%+v, and the time is %d", c, now)
		}
		return
	}
	t.Error("this process is not among them")
}

func TestHoldsFindsAPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	name := nameOf(r)
	if name == "" || name != nameOf(w) || !holds(os.Getpid(), map[string]bool{name: true}) {
		t.Errorf("%q and %q are not found", name, nameOf(w))
	}
	if holds(os.Getpid(), map[string]bool{"pipe:[0]": true}) {
		t.Error("a pipe that is none is found")
	}
	r.Close()
	if got := nameOf(r); got != "" {
		t.Errorf("a closed pipe is %q", got)
	}
}
