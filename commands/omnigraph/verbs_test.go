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

// What is known of how many requests a write makes.
func TestOneRequest(t *testing.T) {
	yes, no := true, false
	for line, want := range map[string]*bool{
		"mutate q --server s":                                   &yes,
		"mutate q --set a=b --server s":                         &yes,
		"change q --server s":                                   &yes,
		"load --data d --mode merge g":                          &yes,
		"ingest --data d --server s":                            &yes,
		"branch create b --server s":                            &yes,
		"branch delete b --server s":                            &yes,
		"branch merge b --into main --delete-branch --server s": &yes,
		"schema apply --schema s g":                             &yes,
		"mutate q --unheard of --server s":                      &no,
		"optimize g":                                            nil,
		"repair --store g --confirm":                            nil,
		"rebuild-full-text-indexes g":                           nil,
		"upgrade g":                                             nil,
		"optimize --server s":                                   &no,
		"cluster apply --server s":                              &no,
		"cluster push --managed":                                &no,
		"cluster token --server s":                              &no,
		"alias experts topic":                                   &no,
		"changes baseline --server s --out f":                   &no,
		"frobnicate --server s":                                 &no,
		"":                                                      &no,
	} {
		inv := Parse(append([]string{"omnigraph"}, strings.Fields(line)...))
		if got := inv.OneRequest(); (got == nil) != (want == nil) || got != nil && *got != *want || !inv.Write {
			t.Errorf("%q: %v, write %t", line, got, inv.Write)
		}
	}
}

// Flags and verbs of later releases: a read stays one.
func TestReadsOfLaterReleases(t *testing.T) {
	for _, line := range []string{
		"query q --set a=b --server s", "query --set=a=b q --server s", "query q --managed", "query -e explain --server s",
		"graphs list --discovery --server s", "cluster observe --server s", "cluster operation x --server s", "cluster history --deployment-id d --server s",
		"commit changes --set a=b --server s", "changes poll --set a=b --server s", "query q --direct --server s",
	} {
		if inv := Parse(append([]string{"omnigraph"}, strings.Fields(line)...)); inv.Write {
			t.Errorf("%q: %+v", line, inv)
		}
	}
	for _, line := range []string{"mutate q --set a=b --server s", "load --set a=b --server s", "branch merge b --set a=b --server s", "cluster token x --server s", "upgrade --check g"} {
		if inv := Parse(append([]string{"omnigraph"}, strings.Fields(line)...)); !inv.Write || inv.Ambiguous {
			t.Errorf("%q: %+v", line, inv)
		}
	}
}
