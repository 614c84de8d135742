package omnigraph

import (
	"strings"
	"testing"
)

func TestVerbsAreWhole(t *testing.T) {
	for name, v := range verbs {
		words := strings.Fields(name)
		if families[words[0]] != (len(words) == 2) {
			t.Errorf("%q has %d words", name, len(words))
		}
		if v.here && v.uri {
			t.Errorf("%q addresses a graph and none", name)
		}
		if canonical(name) != name {
			t.Errorf("%q is an alias", name)
		}
	}
	for name, own := range aliases {
		if _, known := verbs[own]; !known {
			t.Errorf("%q is an alias of nothing", name)
		}
	}
}

// What witan-core takes for a write is one here.
func TestWitanCoresWrites(t *testing.T) {
	for _, name := range []string{"mutate", "load", "optimize", "cleanup"} {
		if inv := Parse([]string{"omnigraph", name, "--store", "g"}); !inv.Write {
			t.Errorf("%s is a read", name)
		}
	}
}
