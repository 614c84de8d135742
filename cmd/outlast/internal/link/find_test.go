//go:build unix

package link

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// tree makes files in a new folder: a name with " 755" behind is a program, one
// with " -> x" a link to x, one that ends in "/" a folder.
func tree(t *testing.T, names ...string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		name, target, isLink := strings.Cut(name, " -> ")
		name, isProgram := strings.CutSuffix(name, " 755")
		path := filepath.Join(root, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		switch {
		case err != nil:
		case isLink:
			err = os.Symlink(strings.ReplaceAll(target, "ROOT", root), path)
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(path, 0o755)
		case isProgram:
			err = os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755)
		default:
			err = os.WriteFile(path, nil, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// in is a PATH of folders in root; "." and "" stay as they are.
func in(root string, dirs ...string) string {
	for i, dir := range dirs {
		if dir != "" && dir != "." && !strings.HasPrefix(dir, "rel/") {
			dirs[i] = filepath.Join(root, dir)
		}
	}
	return strings.Join(dirs, ":")
}

func TestFindLooksAsAShellDoes(t *testing.T) {
	root := tree(t, "self/outlast 755", "real/q 755", "two/q 755", "plain/q", "dir/q/", "empty/", "rel/real/q 755", "q 755", "gone/q -> nowhere")
	t.Chdir(root)
	self := filepath.Join(root, "self/outlast")
	if err := os.Link(self, filepath.Join(root, "empty/other")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path []string
		want string
		code int
	}{
		{[]string{"real", "two"}, "real/q", 0},
		{[]string{"missing", "empty", "gone", "dir", "plain", "two"}, "two/q", 0},
		{[]string{"", "real"}, "./q", 0},
		{[]string{"empty", "."}, "./q", 0},
		{[]string{"rel/real", "two"}, "rel/real/q", 0},
		{[]string{""}, "./q", 0},
		{[]string{"empty"}, "", 127},
		{[]string{"dir", "gone", "missing"}, "", 127},
		{[]string{"empty", "plain"}, "", 126},
	} {
		path := in(root, append([]string{}, c.path...)...)
		got, err := Find("q", self, path, Trail{})
		want := c.want
		if want != "" && !strings.HasPrefix(want, ".") && !strings.HasPrefix(want, "rel/") {
			want = filepath.Join(root, want)
		}
		var missing *NotFoundError
		if code := exitCodeOf(err, &missing); got != want || code != c.code {
			t.Errorf("PATH=%s: %q, %d, want %q, %d", path, got, code, want, c.code)
		}
	}
}

func exitCodeOf(err error, missing **NotFoundError) int {
	if errors.As(err, missing) {
		return (*missing).ExitCode
	}
	if err != nil {
		return -1
	}
	return 0
}

// Links of every kind to the tool are passed over, wherever they stand.
func TestFindPassesOverOurselves(t *testing.T) {
	root := tree(t, "self/outlast 755", "one/q -> ROOT/self/outlast", "two/q -> ../one/q", "three/", "real/q 755", "copy/")
	self := filepath.Join(root, "self/outlast")
	if err := os.Link(self, filepath.Join(root, "three/q")); err != nil {
		t.Fatal(err)
	}
	for _, path := range [][]string{
		{"one", "two", "three", "real"}, {"real", "one"}, {"three", "real", "one"}, {"one", "one", "real", "two"},
	} {
		if got, err := Find("q", self, in(root, path...), Trail{}); err != nil || got != filepath.Join(root, "real/q") {
			t.Errorf("%q, %v", got, err)
		}
	}
	if _, err := Find("q", self, in(root, "one", "two", "three"), Trail{}); err == nil || err.Error() != "q: command not found" {
		t.Errorf("%v", err)
	}
}

func TestFindLeavesACircle(t *testing.T) {
	root := tree(t, "self/outlast 755", "wrapper/q 755", "real/q 755", "plain/q")
	self := filepath.Join(root, "self/outlast")
	around := Trail{maxRounds, filepath.Join(root, "wrapper/q")}
	if got, err := Find("q", self, in(root, "wrapper", "real"), around); err != nil || got != filepath.Join(root, "real/q") {
		t.Errorf("%q, %v", got, err)
	}
	_, err := Find("q", self, in(root, "wrapper"), around)
	var missing *NotFoundError
	if !errors.As(err, &missing) || missing.ExitCode != 126 || !errors.Is(err, syscall.ELOOP) {
		t.Errorf("%v", err)
	}
	_, err = Find("q", self, in(root, "plain"), around)
	if !errors.Is(err, fs.ErrPermission) {
		t.Errorf("%v", err)
	}
}
