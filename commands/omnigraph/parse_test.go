package omnigraph

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// capture is an argv that was run against a real omnigraph, and what the person
// who ran it said of it.
type capture struct {
	Argv          []string
	Write, Remote bool
}

// differs lists where Parse is right to say something else than was said.
var differs = map[string]struct {
	Invocation
	because string
}{
	"omnigraph": {Invocation{Write: true, Remote: true},
		"there is no command, so nothing says that it reads"},
	"omnigraph frobnicate": {Invocation{Verb: "frobnicate", Write: true, Remote: true},
		"an unknown command may do anything, anywhere"},
	"omnigraph query find_people --bogus": {Invocation{Verb: "query", Remote: true},
		"without an address, the user's configuration names the server"},
}

func TestRealInvocations(t *testing.T) {
	met := 0
	for _, c := range lines[capture](t, "invocations.jsonl") {
		inv := Parse(c.Argv)
		if other, ok := differs[strings.Join(c.Argv, " ")]; ok {
			met++
			other.Command = "omnigraph"
			if inv != other.Invocation {
				t.Errorf("%q: got %+v, want %+v, because %s", c.Argv, inv, other.Invocation, other.because)
			}
			if inv.Write == c.Write && inv.Remote == c.Remote {
				t.Errorf("%q does not differ", c.Argv)
			}
			continue
		}
		if inv.Write != c.Write || inv.Remote != c.Remote || inv.Ambiguous {
			t.Errorf("%q: got %+v, want write %v, remote %v", c.Argv, inv, c.Write, c.Remote)
		}
	}
	if met != len(differs) {
		t.Errorf("%d of %d differences met", met, len(differs))
	}
}

func TestParse(t *testing.T) {
	for line, want := range map[string]Invocation{
		// names
		"omnigraph read q --store g":                 {Verb: "query", Store: "g"},
		"omnigraph change q --store g":               {Verb: "mutate", Write: true, Store: "g"},
		"omnigraph ingest --data d g":                {Verb: "load", Write: true, Store: "g"},
		"omnigraph check --query q g":                {Verb: "lint", Store: "g"},
		"omnigraph query lint --query q g":           {Verb: "lint", Store: "g"},
		"omnigraph query check --query q g":          {Verb: "lint", Store: "g"},
		"omnigraph --quiet query lint --server s":    {Verb: "query", Remote: true, Server: "s"},
		"omnigraph schema get g":                     {Verb: "schema show", Store: "g"},
		"omnigraph schema apply --schema s g":        {Verb: "schema apply", Write: true, Store: "g"},
		"omnigraph branch list --uri g":              {Verb: "branch list", Store: "g"},
		"omnigraph branch delete b --uri g":          {Verb: "branch delete", Write: true, Store: "g"},
		"omnigraph branch --store g list":            {Verb: "branch list", Store: "g"},
		"omnigraph branch":                           {Verb: "branch", Write: true, Remote: true},
		"omnigraph branch rename a b --store g":      {Verb: "branch rename", Write: true, Store: "g"},
		"omnigraph cluster status --config d":        {Verb: "cluster status", Write: true, Remote: true},
		"omnigraph alias experts topic":              {Verb: "alias", Write: true, Remote: true},
		"omnigraph changes baseline --uri g --out f": {Verb: "changes baseline", Write: true, Store: "g"},
		"omnigraph blob get node T i p --store g":    {Verb: "blob get", Store: "g"},
		"omnigraph help load":                        {Verb: "help"},
		"omnigraph version":                          {Verb: "version"},
		"omnigraph profile show p":                   {Verb: "profile show"},
		"omnigraph login prod":                       {Verb: "login", Write: true},
		"omnigraph --version":                        {},
		"omnigraph -h":                               {},
		"omnigraph load -h":                          {Verb: "load", Write: true, Remote: true},

		// values that look like something else
		"omnigraph --as load query q --store g":           {Verb: "query", Store: "g"},
		"omnigraph --graph mutate --server s query q":     {Verb: "query", Remote: true, Server: "s"},
		"omnigraph snapshot --branch s3://b/g /srv/g":     {Verb: "snapshot", Store: "/srv/g"},
		"omnigraph load --data http://x/d --mode merge g": {Verb: "load", Write: true, Store: "g"},
		"omnigraph query -e mutate --store g":             {Verb: "query", Store: "g"},
		"omnigraph query -emutate --store g":              {Verb: "query", Store: "g"},
		"omnigraph query -e=mutate --store g":             {Verb: "query", Store: "g"},
		"omnigraph load --data - --mode merge g":          {Verb: "load", Write: true, Store: "g"},
		"omnigraph query /srv/g --server s":               {Verb: "query", Remote: true, Server: "s"}, // a query's name
		"omnigraph query -- --store g":                    {Verb: "query", Remote: true},
		"omnigraph snapshot --json -- --odd-name":         {Verb: "snapshot", Store: "--odd-name"},
		"omnigraph -- query q":                            {Write: true, Remote: true},
		"omnigraph branch -- list":                        {Verb: "branch", Write: true, Remote: true},
		"omnigraph query q --params --server s":           {Verb: "query", Write: true, Remote: true, Ambiguous: true, Server: "s"},
		"omnigraph query q --server":                      {Verb: "query", Write: true, Remote: true, Ambiguous: true},
		"omnigraph query q --server= --json":              {Verb: "query", Write: true, Remote: true, Ambiguous: true},
		"omnigraph load --store= g":                       {Verb: "load", Write: true, Remote: false, Ambiguous: true, Store: "g"},
		"omnigraph query q --server a --server b":         {Verb: "query", Write: true, Remote: true, Ambiguous: true, Server: "b"},
		"omnigraph --server a query q --server a":         {Verb: "query", Remote: true, Server: "a"},
		"omnigraph load --store a --store b":              {Verb: "load", Write: true, Ambiguous: true, Store: "b"},

		// unknown flags
		"omnigraph query q --server s --bogus":         {Verb: "query", Remote: true, Server: "s"},
		"omnigraph query q --bogus --server s":         {Verb: "query", Remote: true, Server: "s"},
		"omnigraph query q --bogus=v --server s":       {Verb: "query", Remote: true, Server: "s"},
		"omnigraph query q --server s --bogus v":       {Verb: "query", Write: true, Remote: true, Ambiguous: true, Server: "s"},
		"omnigraph query q --server s -x v":            {Verb: "query", Write: true, Remote: true, Ambiguous: true, Server: "s"},
		"omnigraph --bogus query mutate --server s":    {Verb: "mutate", Write: true, Remote: true, Ambiguous: true, Server: "s"},
		"omnigraph --bogus mutate query --server s":    {Verb: "query", Write: true, Remote: true, Ambiguous: true, Server: "s"},
		"omnigraph branch --bogus create list --uri g": {Verb: "branch list", Write: true, Ambiguous: true, Store: "g"},
		"omnigraph snapshot --bogus g":                 {Verb: "snapshot", Write: true, Remote: true, Ambiguous: true},
		"omnigraph --bogus --version":                  {},

		// where to
		"omnigraph load --data d --store s3://b/g":     {Verb: "load", Write: true, Store: "s3://b/g"},
		"omnigraph load --data d file:///srv/g":        {Verb: "load", Write: true, Store: "file:///srv/g"},
		"omnigraph load --data d http://h/g":           {Verb: "load", Write: true, Remote: true},
		"omnigraph load --data d --store https://h/g":  {Verb: "load", Write: true, Remote: true},
		"omnigraph load --data d --store x://h/g":      {Verb: "load", Write: true, Remote: true},
		"omnigraph load --data d":                      {Verb: "load", Write: true, Remote: true},
		"omnigraph load g --data d --server s":         {Verb: "load", Write: true, Remote: true, Server: "s"},
		"omnigraph load --store g --data d --server s": {Verb: "load", Write: true, Remote: true, Server: "s"},
		"omnigraph load g --store h --data d":          {Verb: "load", Write: true, Ambiguous: true, Store: "h"},
		"omnigraph load --store h g --data d":          {Verb: "load", Write: true, Ambiguous: true, Store: "h"},
		"omnigraph --store h load g --data d":          {Verb: "load", Write: true, Ambiguous: true, Store: "h"},
		"omnigraph load g --uri=h --data d":            {Verb: "load", Write: true, Ambiguous: true, Store: "h"},
		"omnigraph load h --store h --data d":          {Verb: "load", Write: true, Ambiguous: true, Store: "h"},
		"omnigraph export g --store h":                 {Verb: "export", Write: true, Ambiguous: true, Store: "h"},
		"omnigraph optimize --cluster d --graph g":     {Verb: "optimize", Write: true},
		"omnigraph optimize g --cluster d":             {Verb: "optimize", Write: true, Remote: true},
	} {
		want.Command = "omnigraph"
		if got := Parse(args(line)); got != want {
			t.Errorf("%s:\n got %+v\nwant %+v", line, got, want)
		}
	}
	if got := Parse(nil); !got.Write || !got.Remote || got.Command != "" {
		t.Errorf("nothing: %+v", got)
	}
}

// valid holds whatever argv is.
func valid(t interface{ Fatalf(string, ...any) }, argv []string) Invocation {
	before := slices.Clone(argv)
	inv := Parse(argv)
	if !slices.Equal(argv, before) {
		t.Fatalf("Parse changed %q into %q", before, argv)
	}
	if inv != Parse(argv) {
		t.Fatalf("%q is read in two ways", argv)
	}
	if inv.Ambiguous && !inv.Write {
		t.Fatalf("%q is ambiguous and a read", argv)
	}
	if inv.Remote && (inv.Store != "" || len(LockPaths(inv)) > 0 || RepairArgv(inv, true) != nil) {
		t.Fatalf("%q goes to a server and to a store", argv)
	}
	if !inv.Write {
		if len(LockPaths(inv)) > 0 {
			t.Fatalf("%q reads and locks", argv)
		}
		if v, known := verbs[inv.Verb]; inv.Verb != "" && (!known || !v.read) {
			t.Fatalf("%q is a read, but %q is none", argv, inv.Verb)
		}
	}
	Env([]string{"A=b"}, inv, "token")
	return inv
}

func FuzzParse(f *testing.F) {
	f.Add("omnigraph\x00query\x00find\x00--server\x00http://127.0.0.1:8080\x00--graph\x00people")
	f.Add("omnigraph\x00--store=s3://b/g\x00branch\x00--\x00list\x00-e\x00-x\x00")
	f.Add("")
	for _, c := range lines[capture](f, "invocations.jsonl") {
		f.Add(strings.Join(c.Argv, "\x00"))
	}
	f.Fuzz(func(t *testing.T, joined string) {
		argv := strings.Split(joined, "\x00")
		inv := valid(t, argv)
		if len(argv) < 2 {
			return
		}
		// A server and a read stay both, with more flags that are known.
		more := Parse(append(slices.Clone(argv[:1]), append([]string{"--as", "mutate", "--json"}, argv[1:]...)...))
		if renamed(argv[1:])[0] == argv[1] && more != inv {
			t.Errorf("%q: %+v, with flags that say nothing %+v", argv, inv, more)
		}
	})
}

// Where a flag stands changes nothing, and no value is taken for a word.
func TestOrderOfFlagsDoesNotMatter(t *testing.T) {
	reads := []string{"query", "read", "export", "snapshot", "graphs list", "branch list", "commit list", "schema show"}
	var values []string
	for name, kind := range longFlags {
		if kind == plainValue {
			values = append(values, name)
		}
	}
	slices.Sort(values)
	word := rapid.SampledFrom([]string{"mutate", "load", "create", "http://x", "s3://b/g", "/srv/g", "{}", "-", ""})
	rapid.Check(t, func(t *rapid.T) {
		verb := rapid.SampledFrom(reads).Draw(t, "verb")
		groups := [][]string{{"--server", "http://127.0.0.1:8080"}}
		if rapid.Bool().Draw(t, "attached") {
			groups[0] = []string{"--server=http://127.0.0.1:8080"}
		}
		for range rapid.IntRange(0, 6).Draw(t, "flags") {
			name := "--" + rapid.SampledFrom(values).Draw(t, "flag")
			switch rapid.IntRange(0, 2).Draw(t, "kind") {
			case 0:
				groups = append(groups, []string{name, word.Draw(t, "value")})
			case 1:
				groups = append(groups, []string{name + "=" + word.Draw(t, "value")})
			case 2:
				groups = append(groups, []string{rapid.SampledFrom([]string{"--json", "--quiet", "--yes", "--direct"}).Draw(t, "switch")})
			}
		}
		for _, w := range strings.Fields(verb) {
			groups = append(groups, []string{w})
		}
		groups = rapid.Permutation(groups).Draw(t, "order")
		// The words of a verb keep their order.
		var words []string
		for i, g := range groups {
			if !strings.HasPrefix(g[0], "-") {
				groups[i] = strings.Fields(verb)[len(words) : len(words)+1]
				words = append(words, groups[i][0])
			}
		}
		argv := slices.Concat(append([][]string{{"omnigraph"}}, groups...)...)
		inv := valid(t, argv)
		want := Invocation{Command: "omnigraph", Verb: canonical(verb), Remote: true, Server: "http://127.0.0.1:8080"}
		if inv != want {
			t.Fatalf("%q:\n got %+v\nwant %+v", argv, inv, want)
		}
	})
}
