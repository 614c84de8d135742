package environ

import (
	"slices"
	"testing"
)

func TestTheLastCounts(t *testing.T) {
	env := []string{"A=1", "B=", "A=2=3", "AB=4", "odd"}
	for name, want := range map[string]string{"A": "2=3", "B": "", "AB": "4", "C": "", "odd": ""} {
		value, ok := Find(env, name)
		if value != want || ok != (name != "C" && name != "odd") || Get(env, name) != want {
			t.Errorf("%s is %q, %v; want %q", name, value, ok, want)
		}
	}
}

// A process that takes outlast's place gets the list as it is, and reads the
// first of a name.
func TestWithLeavesOneOfAName(t *testing.T) {
	env := []string{"A=1", "B=2", "A=3"}
	if got := With(env, "A", "4"); !slices.Equal(got, []string{"B=2", "A=4"}) {
		t.Errorf("got %q", got)
	}
	if got := Without(env, "A"); !slices.Equal(got, []string{"B=2"}) {
		t.Errorf("got %q", got)
	}
	if !slices.Equal(env, []string{"A=1", "B=2", "A=3"}) {
		t.Errorf("the list itself is %q now", env)
	}
}
