//go:build unix

package journal

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// What another user could change, or lead elsewhere, is no journal.
func TestForeignDirectories(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		make func(path string) error
		want string
	}{
		"group": {func(p string) error { return errors.Join(os.Mkdir(p, 0o700), os.Chmod(p, 0o720)) }, "other users can write"},
		"world": {func(p string) error { return errors.Join(os.Mkdir(p, 0o700), os.Chmod(p, 0o702)) }, "other users can write"},
		"link":  {func(p string) error { return os.Symlink(dir, p) }, "symbolic link"},
		"file":  {func(p string) error { return os.WriteFile(p, nil, 0o600) }, "not a directory"},
		"owner": {func(p string) error { return errors.Join(os.Mkdir(p, 0o700), os.Chown(p, 12345, 12345)) }, "belongs to user 12345"},
	} {
		path := filepath.Join(dir, name)
		if err := c.make(path); errors.Is(err, os.ErrPermission) {
			continue // only root can give a directory away
		} else if err != nil {
			t.Fatal(err)
		}
		for _, p := range []string{path, path + "/"} {
			if _, err := Open(p, Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v", p, err)
			}
		}
	}
}

// The same holds for the records themselves.
func TestForeignRecords(t *testing.T) {
	for name, make := range map[string]func(path string) error{
		"link":  func(p string) error { return os.Symlink("/dev/null", p) },
		"fifo":  func(p string) error { return syscall.Mkfifo(p, 0o600) },
		"dir":   func(p string) error { return os.Mkdir(p, 0o700) },
		"world": func(p string) error { return errors.Join(os.WriteFile(p, nil, 0o600), os.Chmod(p, 0o666)) },
	} {
		j, k := open(t, Options{}), given(t, "k")
		if err := make(j.path(k.id)); err != nil {
			t.Fatal(err)
		}
		if run, _, err := j.Begin(t.Context(), k, line); err == nil {
			run.Close()
			t.Errorf("%s is a record", name)
		}
	}
}

// The command that outlives a killed outlast keeps the record locked, and what
// it left is a doubt.
func TestAChildKeepsTheLock(t *testing.T) {
	j, k := open(t, Options{}), given(t, "k")
	r := begin(t, j, k, line)
	if err := r.Attempt(1); err != nil {
		t.Fatal(err)
	}
	child := exec.Command("sleep", "0.3")
	child.ExtraFiles = []*os.File{r.File()}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	r.file.Close() // as a kill does
	began, waited := time.Now(), false
	_, _, err := j.Begin(t.Context(), k, What{Argv: line.Argv, Waiting: func() { waited = true }})
	var doubt *InDoubtError
	if !errors.As(err, &doubt) || !waited || time.Since(began) < 200*time.Millisecond {
		t.Errorf("%v, waited %t for %v", err, waited, time.Since(began))
	}
	child.Wait()
}

// A full disk refuses a write before its attempt, and what had begun stays in
// doubt where its end finds no room.
func TestAFullDisk(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=16k,mode=700", "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("no small disk here: %s", out)
	}
	defer exec.Command("umount", dir).Run()
	j, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := begin(t, j, given(t, "under way"), line)
	if err := r.Attempt(1); err != nil {
		t.Fatal(err)
	}
	filler := filepath.Join(dir, "filler")
	_ = os.WriteFile(filler, bytes.Repeat([]byte("x"), 16<<10), 0o600) // as much as there is room for
	run, _, err := j.Begin(t.Context(), given(t, "new"), line)
	if err == nil {
		err = run.Attempt(1)
		run.Close()
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("with a full disk: %v", err)
	}
	err = r.Finish(End{Outcome: "ok", Stdout: bytes.Repeat([]byte("y"), 8<<10)})
	if err != nil && !strings.Contains(err.Error(), "stays in doubt") {
		t.Error(err)
	}
	os.Remove(filler)
	want := Applied // its short end fitted into the file's last page
	if err != nil {
		want = InDoubt
	}
	if e, showErr := j.Show("under way"); showErr != nil || e.State != want {
		t.Errorf("%+v, %v; %v", e, showErr, err)
	}
	begin(t, j, given(t, "new"), line).Close()
}
