package wholefile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func mustTarget(t *testing.T, path string) string {
	t.Helper()
	target, err := Target(path)
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// only fails if a folder holds anything but these names.
func only(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(names, " ") {
		t.Errorf("the folder holds %q, and not %q", got, names)
	}
}

func TestReplace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	target := mustTarget(t, path)
	only(t, dir)
	for _, content := range []string{"first", "second, longer", ""} {
		if err := Replace(target, []byte(content), 0o640); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != content {
			t.Errorf("%v, %q", err, got)
		}
		only(t, dir, "file")
	}
}

func TestPermissionsStay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	for _, perm := range []os.FileMode{0o644, 0o600} {
		if err := Replace(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o600 != 0o600 || os.Getuid() >= 0 && info.Mode().Perm() != perm {
			t.Errorf("%v, %v", err, info.Mode())
		}
		if err := os.Chmod(path, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestALinkStays(t *testing.T) {
	dir := t.TempDir()
	os.Mkdir(filepath.Join(dir, "there"), 0o700)
	link := filepath.Join(dir, "link")
	if err := os.Symlink("there/file", link); err != nil {
		t.Skip(err)
	}
	for range 2 { // without a file behind it, and with one
		if err := Replace(mustTarget(t, link), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if to, err := os.Readlink(link); err != nil || to != "there/file" {
		t.Errorf("%v, %q", err, to)
	}
	only(t, filepath.Join(dir, "there"), "file")
	if err := os.Symlink("round", filepath.Join(dir, "round")); err != nil {
		t.Fatal(err)
	}
	if _, err := Target(filepath.Join(dir, "round")); err == nil {
		t.Error("a link to itself leads somewhere")
	}
}

func TestWhatCannotBeReplaced(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{dir, filepath.Join(dir, "no", "folder"), os.DevNull} {
		if target, err := Target(path); err == nil {
			t.Errorf("%s: %s", path, target)
		}
	}
	only(t, dir)
	if err := Replace(filepath.Join(dir, "no", "folder"), nil, 0o600); err == nil {
		t.Error("a file in no folder")
	}
	full := filepath.Join(dir, "full")
	os.Mkdir(full, 0o700) // a folder cannot be replaced by a file
	if err := Replace(full, []byte("x"), 0o600); err == nil {
		t.Error("a folder was replaced")
	}
	only(t, dir, "full")
}
