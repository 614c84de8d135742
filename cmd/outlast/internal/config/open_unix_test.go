//go:build unix

package config

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestFilesThatAreNotTrusted(t *testing.T) {
	path := write(t, "quiet: true\n")
	for _, mode := range []os.FileMode{0o400, 0o600, 0o644, 0o755} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if got := faultsOf(t, nil, path); got != "" {
			t.Errorf("mode %o: %s", mode, got)
		}
	}
	for _, mode := range []os.FileMode{0o620, 0o664, 0o602, 0o666} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if got := faultsOf(t, nil, path); !strings.Contains(got, "can be written by others") || !strings.Contains(got, "chmod go-w "+path) {
			t.Errorf("mode %o: %q", mode, got)
		}
	}
}

func TestAnothersFile(t *testing.T) {
	path := write(t, "quiet: true\n")
	if err := os.Chown(path, 12345, -1); err != nil {
		t.Skip("only root can give a file away")
	}
	if got := faultsOf(t, nil, path); !strings.Contains(got, "belongs to user 12345") {
		t.Errorf("%q", got)
	}
}

func TestWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, pipe, "/dev/null"} {
		if got := faultsOf(t, nil, path); !strings.Contains(got, path+": is no regular file") {
			t.Errorf("%s: %q", path, got)
		}
	}
}

func TestFilesThatAreNotThere(t *testing.T) {
	there := write(t, "")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(there, link); err != nil {
		t.Fatal(err)
	}
	dangling := filepath.Join(t.TempDir(), "dangling")
	if err := os.Symlink("/no/such/file", dangling); err != nil {
		t.Fatal(err)
	}
	c := load(t, nil, "/no/such/dir/config.yaml", filepath.Join(there, "below a file"), dangling, link)
	want := []State{Missing, Missing, Missing, Read}
	for i, got := range c.LookedFor() {
		if got.State != want[i] {
			t.Errorf("%s is %q, not %q", got.Path, got.State, want[i])
		}
	}
}

// A directory that is closed to this user is no reason to fail: a container that runs
// as another user often has root's home. A file that can be seen and not read is.
func TestClosedDoors(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("nothing is closed to root")
	}
	path := write(t, "quiet: true\n")
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	if got := faultsOf(t, nil, path); !strings.Contains(got, path+": permission denied") {
		t.Errorf("%q", got)
	}
	if err := os.Chmod(filepath.Dir(path), 0); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(filepath.Dir(path), 0o700)
	if got := load(t, nil, path).LookedFor(); got[0].State != Hidden {
		t.Errorf("%v", got)
	}
}
