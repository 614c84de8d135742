package omnigraph

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// lockPath is a store, and what Python made of it.
type lockPath struct{ Store, Lock string }

func TestLockPathsArePythons(t *testing.T) {
	for _, c := range lines[lockPath](t, "lockpaths.jsonl") {
		inv := Invocation{Write: true, Store: c.Store}
		if got := LockPaths(inv); got[0] != c.Lock {
			t.Errorf("%q: %q, Python %q", c.Store, got, c.Lock)
		}
	}
}

func TestNoLock(t *testing.T) {
	for _, line := range []string{
		"omnigraph query q --store g",
		"omnigraph export g",
		"omnigraph load --data d --store s3://b/g",
		"omnigraph load --data d --server http://h",
		"omnigraph load --data d",
		"omnigraph load --data d --store g --server s",
		"omnigraph optimize --cluster d --graph g",
	} {
		if got := LockPaths(Parse(args(line))); len(got) > 0 {
			t.Errorf("%s: %q", line, got)
		}
	}
}

// Any path is normalised as the Python that is here does it.
func TestLockPathAgainstPython(t *testing.T) {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{"/", "//", ".", "..", "...", "a", "é", " ", ":", "\\", "~", "\n", "-"}),
		rapid.StringMatching(`[^/\x00]{1,3}`))
	paths := rapid.SliceOfN(rapid.Map(rapid.SliceOfN(piece, 1, 9), func(p []string) string {
		return strings.Join(p, "")
	}), 3000, 3000).Example(1)
	cmd := python(t, `
import json, pathlib, sys
print(json.dumps([str(pathlib.PurePosixPath(p + ".lock")) for p in json.load(sys.stdin)]))`)
	in, err := json.Marshal(paths)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdin = bytes.NewReader(in)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	if err := json.Unmarshal(out, &want); err != nil || len(want) != len(paths) {
		t.Fatalf("%d of %d answers: %v", len(want), len(paths), err)
	}
	for i, path := range paths {
		if got := purePosixPath(path + ".lock"); got != want[i] {
			t.Errorf("%q: %q, Python %q", path, got, want[i])
		}
	}
}

// Normalising once is enough, and the result names what the path named.
func TestLockPathIsStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		path := rapid.StringMatching(`[/.a]{0,12}`).Draw(t, "path")
		once := purePosixPath(path)
		if twice := purePosixPath(once); twice != once {
			t.Fatalf("%q: %q, then %q", path, once, twice)
		}
		if strings.HasPrefix(path, "/") != strings.HasPrefix(once, "/") {
			t.Fatalf("%q: %q", path, once)
		}
	})
}
