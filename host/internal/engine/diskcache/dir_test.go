//go:build unix

package diskcache

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// privateDir is a directory whose way is safe, whatever the umask is.
func privateDir(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for _, step := range []string{dir, filepath.Dir(dir)} {
		if err := os.Chmod(step, private); err != nil {
			t.Fatal(err)
		}
	}
	resolved, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	return resolved
}

func mkdir(t testing.TB, mode fs.FileMode, path ...string) string {
	t.Helper()
	dir := filepath.Join(path...)
	if err := os.Mkdir(dir, mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, mode); err != nil { // the umask does not count
		t.Fatal(err)
	}
	return dir
}

func TestOpen(t *testing.T) {
	for name, test := range map[string]struct {
		make func(base string) string
		want string // "" if the directory is good
	}{
		"private":    {func(base string) string { return mkdir(t, 0o700, base, "c") }, ""},
		"read-only":  {func(base string) string { return mkdir(t, 0o500, base, "c") }, ""},
		"not there":  {func(base string) string { return filepath.Join(base, "c") }, ErrNotThere.Error()},
		"nor above":  {func(base string) string { return filepath.Join(base, "b", "c") }, ErrNotThere.Error()},
		"relative":   {func(string) string { return "cache" }, "not an absolute path"},
		"group read": {func(base string) string { return mkdir(t, 0o750, base, "c") }, "open to others (mode 0750)"},
		"group write": {
			func(base string) string { return mkdir(t, 0o770, base, "c") }, "open to others (mode 0770)",
		},
		"world execute": {
			func(base string) string { return mkdir(t, 0o701, base, "c") }, "open to others (mode 0701)",
		},
		"a file": {
			func(base string) string {
				path := filepath.Join(base, "c")
				if err := os.WriteFile(path, nil, 0o600); err != nil {
					t.Fatal(err)
				}
				return path
			}, "is no directory",
		},
		"a link": {
			func(base string) string {
				path := filepath.Join(base, "c")
				if err := os.Symlink(mkdir(t, 0o700, base, "real"), path); err != nil {
					t.Fatal(err)
				}
				return path
			}, "is a symbolic link",
		},
		"a dangling link": {
			func(base string) string {
				path := filepath.Join(base, "c")
				if err := os.Symlink(filepath.Join(base, "nowhere"), path); err != nil {
					t.Fatal(err)
				}
				return path
			}, "is a symbolic link",
		},
		"below a link": {
			func(base string) string {
				link := filepath.Join(base, "link")
				if err := os.Symlink(mkdir(t, 0o755, base, "real"), link); err != nil {
					t.Fatal(err)
				}
				mkdir(t, 0o700, base, "real", "c")
				return filepath.Join(link, "c")
			}, "",
		},
		"where others may write": {
			func(base string) string { return mkdir(t, 0o700, mkdir(t, 0o777, base, "open"), "c") }, "others may write in",
		},
		"where the group may write": {
			func(base string) string { return mkdir(t, 0o700, mkdir(t, 0o770, base, "open"), "c") }, "others may write in",
		},
		"below where others may write": {
			func(base string) string {
				return mkdir(t, 0o700, mkdir(t, 0o700, mkdir(t, 0o777, base, "open"), "mine"), "c")
			}, "others may write in",
		},
		"where others may write, but sticky": {
			func(base string) string { return mkdir(t, 0o700, mkdir(t, 0o777|fs.ModeSticky, base, "tmp"), "c") }, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := Open(test.make(privateDir(t)))
			if test.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				if resolved, _ := filepath.EvalSymlinks(d.path); resolved != d.path {
					t.Errorf("the path %s still goes through a link", d.path)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error = %v, want %q", err, test.want)
			}
		})
	}
}

// otherOwner is a file's description with another owner.
type otherOwner struct {
	fs.FileInfo
}

func (otherOwner) Sys() any { return nil }

func TestAnotherOwnerIsRefused(t *testing.T) {
	dir := privateDir(t)
	info, err := os.Lstat(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := checkPrivate(dir, otherOwner{info}); err == nil || !strings.Contains(err.Error(), "belongs to user") {
		t.Errorf("error = %v", err)
	}
	if err := checkStep(dir, otherOwner{info}); err == nil || !strings.Contains(err.Error(), "belongs to user") {
		t.Errorf("error of a step = %v", err)
	}
}

// TestARealForeignDirectoryIsRefused needs root to make one.
func TestARealForeignDirectoryIsRefused(t *testing.T) {
	base := privateDir(t)
	dir := mkdir(t, 0o700, base, "c")
	foreign := os.Geteuid() + 12345
	if err := os.Chown(dir, foreign, -1); err != nil {
		t.Logf("only root can give a directory away: %v", err)
		return
	}
	want := fmt.Sprint("belongs to user ", foreign)
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error = %v", err)
	}
	if _, err := Create(filepath.Join(dir, "below")); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error below = %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "below")); err == nil {
		t.Error("a directory was made in another user's")
	}
}

func TestCreate(t *testing.T) {
	base := privateDir(t)
	path := filepath.Join(base, "cache", "outlast")
	d, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if d.path != path {
		t.Errorf("path = %s, want %s", d.path, path)
	}
	for _, made := range []string{path, filepath.Dir(path)} {
		info, err := os.Stat(made)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != private {
			t.Errorf("%s has the mode %04o", made, info.Mode().Perm())
		}
	}
	if _, err := Create(path); err != nil {
		t.Errorf("a second time: %v", err)
	}
}

func TestCreateMakesNothingWhereItIsNotSafe(t *testing.T) {
	open := mkdir(t, 0o777, privateDir(t), "open")
	if _, err := Create(filepath.Join(open, "a", "b")); err == nil || !strings.Contains(err.Error(), "others may write") {
		t.Errorf("error = %v", err)
	}
	if list, _ := os.ReadDir(open); len(list) != 0 {
		t.Errorf("it made %v", list)
	}
}

func TestCreateFailsWhereAFileIsInTheWay(t *testing.T) {
	file := filepath.Join(privateDir(t), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(filepath.Join(file, "c")); err == nil || errors.Is(err, ErrNotThere) {
		t.Errorf("error = %v", err)
	}
}
