package omnigraph

import (
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

// spelt makes a store and gives its ways to be spelt, the plain one first, with
// what all have in common.
func spelt(t *testing.T) (spellings []string, lock string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("symbolic links need a privilege")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for _, made := range []string{"st 1.omni", "sub"} {
		if err := os.Mkdir(made, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"link": "st 1.omni", "second": "link", "sub/up": "../st 1.omni", "here": "."} {
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
	}
	real := filepath.Join(dir, "st 1.omni")
	uri := (&url.URL{Scheme: "file", Path: real}).String()
	return []string{
		"st 1.omni", "./st 1.omni", real, "/" + real, "st 1.omni/", "st 1.omni//", "st 1.omni/.", real + "/", "sub/../st 1.omni", "missing/../st 1.omni",
		"link", "link/", "second", "sub/up", "here/st 1.omni", "here/link/",
		uri, uri + "/", "file://" + real, "file://localhost" + real,
	}, real + ".lock"
}

// However a store is spelt, witan-core's name for its lock comes first, and the
// lock of the real store is among them.
func TestEverySpellingHasTheRealLock(t *testing.T) {
	spellings, lock := spelt(t)
	for _, store := range spellings {
		paths := LockPaths(Invocation{Write: true, Store: store})
		if len(paths) > 2 || paths[0] != purePosixPath(store+".lock") || !slices.Contains(paths, lock) {
			t.Errorf("%q: %q, without %q", store, paths, lock)
		}
	}
}

// A store that is yet to be made is resolved as far as there is something; one
// that omnigraph refuses has only witan-core's lock.
func TestRealPathsOfWhatIsNotThere(t *testing.T) {
	_, lock := spelt(t)
	dir := filepath.Dir(lock)
	for store, want := range map[string]string{
		"new":                      dir + "/new",
		"here/new/":                dir + "/new",
		"link/a/b":                 dir + "/st 1.omni/a/b",
		"file://" + dir + "/new":   dir + "/new",
		"file:new":                 dir + "/file:new", // no URI for omnigraph
		"/":                        "/",
		"file://elsewhere" + dir:   "",
		"file://g.omni":            "",
		"file:///%zz":              "",
		"file://" + dir + "/a%2Fb": dir + "/a/b",
	} {
		if got := realPath(store); got != want {
			t.Errorf("%q: %q, want %q", store, got, want)
		}
	}
}
