//go:build unix

package diskcache

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// Nothing that stands in the cache keeps a call waiting or fills its memory: a
// named pipe, a device, a huge file with nothing in it. It is damage, and goes.
func TestNothingInTheCacheBlocks(t *testing.T) {
	const huge = 1 << 40
	pipe := func(path string) error { os.Remove(path); return syscall.Mkfifo(path, 0o600) }
	zeros := func(path string) error { os.Remove(path); return os.Symlink("/dev/zero", path) }
	sparse := func(path string) error { return os.Truncate(path, huge) }
	for name, damage := range map[string]func(entry, code, marker string) error{
		"a pipe for the marker":   func(_, _, marker string) error { return pipe(marker) },
		"a pipe for the code":     func(_, code, _ string) error { return pipe(code) },
		"a pipe beside the code":  func(entry, _, _ string) error { return pipe(filepath.Join(entry, "more")) },
		"a pipe for the entry":    func(entry, _, _ string) error { return errors.Join(os.RemoveAll(entry), pipe(entry)) },
		"zeros for the marker":    func(_, _, marker string) error { return zeros(marker) },
		"zeros for the code":      func(_, code, _ string) error { return zeros(code) },
		"a huge marker":           func(_, _, marker string) error { return sparse(marker) },
		"huge code":               func(_, code, _ string) error { return sparse(code) },
		"huge code, as it should": func(_, code, marker string) error { return errors.Join(sparse(code), resize(marker, huge)) },
		"a directory for it":      func(_, code, _ string) error { return errors.Join(os.Remove(code), os.Mkdir(code, 0o700)) },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDir(t)
			entry := put(t, d, "key", "code")
			code := codeOf(t, entry)
			if err := damage(entry, code, filepath.Join(entry, markerName)); err != nil {
				t.Skipf("cannot be made here: %v", err)
			}
			soon(t, func() {
				if got, err := d.Find("key"); err == nil || errors.Is(err, ErrNone) {
					t.Errorf("Find = %q, %v", got, err)
				}
				if err := d.Drop("key"); err != nil {
					t.Errorf("Drop: %v", err)
				}
				if _, err := d.Find("key"); !errors.Is(err, ErrNone) {
					t.Errorf("it is still there: %v", err)
				}
			})
		})
	}
}

// So is it for the file that writers lock.
func TestALockThatBlocks(t *testing.T) {
	d := newDir(t)
	if err := syscall.Mkfifo(filepath.Join(d.path, lockName), 0o600); err != nil {
		t.Skip(err)
	}
	soon(t, func() {
		if err := d.Fill(t.Context(), "key", writes("code")); err == nil {
			t.Error("a pipe was locked")
		}
	})
}

// soon fails if work takes longer than reading a small file could.
func soon(t *testing.T, work func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); work() }()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("it blocks")
	}
}

func codeOf(t *testing.T, entry string) string {
	t.Helper()
	m, err := describe(entry, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name := range m {
		return filepath.Join(entry, name)
	}
	t.Fatal("there is no code")
	return ""
}

// resize has a marker say that the code is of another size.
func resize(path string, size int64) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	m := marker{}
	if err := json.Unmarshal(text, &m); err != nil {
		return err
	}
	for name, c := range m {
		m[name] = code{Size: size, CRC32: c.CRC32}
	}
	if text, err = json.Marshal(m); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}
