package omnigraph

import (
	"os"
	"path/filepath"
	"testing"
)

// A store that is given as a URI is locked by its real path, and nothing is made
// in the working directory; the tree that witan-core has made there is used.
func TestNoTreeForAURI(t *testing.T) {
	here, store := t.TempDir(), filepath.ToSlash(filepath.Join(t.TempDir(), "people.omni"))
	t.Chdir(here)
	for _, spelt := range []string{"file://" + store, "file://localhost" + store, "file:///nowhere/at/all/x", "file://other" + store} {
		for _, made := range []bool{false, true} {
			paths := LockPaths(Invocation{Write: true, Store: spelt})
			if spelt == "file:///nowhere/at/all/x" {
				paths = paths[:1] // the other's directory must not be made
			}
			if made {
				if err := os.MkdirAll(filepath.Dir(paths[0]), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			lock, err := Lock(t.Context(), paths, nil)
			if err != nil {
				t.Fatalf("%s: %v", spelt, err)
			}
			if _, err := os.Stat(paths[0]); os.IsNotExist(err) == made {
				t.Errorf("%s, with a tree of witan-core's (%t): %v", spelt, made, err)
			}
			if _, err := os.Stat("file:"); !made && !os.IsNotExist(err) {
				t.Errorf("%s: a tree was made: %v", spelt, err)
			}
			if len(paths) > 1 {
				if _, err := os.Stat(paths[1]); err != nil {
					t.Errorf("%s: its real path is not locked: %v", spelt, err)
				}
			}
			lock.Release()
			os.RemoveAll("file:")
		}
	}
}
