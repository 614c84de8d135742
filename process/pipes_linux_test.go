package process

import (
	"os"
	"testing"
)

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
