//go:build unix

package diskcache

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofrs/flock"
)

// writes is a compiler that leaves one file, as wazero does.
func writes(code string) func(context.Context, string) error {
	return func(_ context.Context, dir string) error {
		if err := os.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, "sub", "code"), []byte(code), 0o600)
	}
}

// onlyThe fails if the directory has anything but the lock and these entries.
func onlyThe(t testing.TB, d *Dir, entries ...string) {
	t.Helper()
	want := map[string]bool{lockName: true}
	for _, e := range entries {
		want[e] = true
	}
	for _, name := range d.names() {
		if !want[name] {
			t.Errorf("the cache has a %s", name)
		}
		delete(want, name)
	}
	delete(want, lockName)
	for name := range want {
		t.Errorf("the cache has no %s", name)
	}
}

func TestFillOnce(t *testing.T) {
	d := newDir(t)
	put(t, d, "key", "code")
	if err := d.Fill(t.Context(), "key", writes("other")); !errors.Is(err, ErrFilled) {
		t.Errorf("error = %v, want ErrFilled", err)
	}
	onlyThe(t, d, "key")
}

func TestFillReplacesADamagedEntry(t *testing.T) {
	d := newDir(t)
	entry := put(t, d, "key", "code")
	if err := os.Truncate(filepath.Join(entry, "sub", "code"), 1); err != nil {
		t.Fatal(err)
	}
	put(t, d, "key", "new code")
	if _, err := d.Find("key"); err != nil {
		t.Error(err)
	}
	onlyThe(t, d, "key")
}

func TestFillOfSeveralAtOnceCompilesOnce(t *testing.T) {
	d := newDir(t)
	var compiled, busy, filled atomic.Int32
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			err := d.Fill(context.Background(), "key", func(ctx context.Context, dir string) error {
				compiled.Add(1)
				return writes("code")(ctx, dir)
			})
			switch {
			case errors.Is(err, ErrBusy):
				busy.Add(1)
			case errors.Is(err, ErrFilled):
				filled.Add(1)
			case err != nil:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if compiled.Load() != 1 || busy.Load()+filled.Load() != 99 {
		t.Errorf("compiled %d times, %d found it busy, %d found it filled", compiled.Load(), busy.Load(), filled.Load())
	}
}

func TestFillThatFailsLeavesNothing(t *testing.T) {
	d := newDir(t)
	boom := errors.New("boom")
	err := d.Fill(t.Context(), "key", func(ctx context.Context, dir string) error {
		writes("half")(ctx, dir)
		return boom
	})
	if !errors.Is(err, boom) {
		t.Errorf("error = %v, want boom", err)
	}
	onlyThe(t, d)
	if err := d.Fill(t.Context(), "key", func(context.Context, string) error { return nil }); err == nil {
		t.Error("an entry without code was published")
	}
	onlyThe(t, d)
}

func TestFillThatPanicsLeavesNothing(t *testing.T) {
	d := newDir(t)
	func() {
		defer func() { recover() }()
		d.Fill(t.Context(), "key", func(context.Context, string) error { panic("boom") })
	}()
	onlyThe(t, d)
	put(t, d, "key", "code") // the lock was given back
}

func TestFillSweepsUpAfterTheKilled(t *testing.T) {
	d := newDir(t)
	mkdir(t, 0o700, d.path, "other"+tempMark+"123")
	put(t, d, "key", "code")
	onlyThe(t, d, "key")
}

func TestFillKeepsTheLatest(t *testing.T) {
	d := newDir(t)
	for i := range keepEntries {
		marker := filepath.Join(put(t, d, fmt.Sprint("key", i), "code"), markerName)
		used := time.Now().Add(time.Duration(i-10) * time.Hour)
		if err := os.Chtimes(marker, used, used); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := d.Find("key0"); err != nil { // the oldest until now
		t.Fatal(err)
	}
	put(t, d, "new", "code")
	onlyThe(t, d, "key0", "key2", "key3", "new")
}

func TestFillInAReadOnlyDirectory(t *testing.T) {
	d := newDir(t)
	if err := os.Chmod(d.path, 0o500); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(d.path, private)
	err := d.Fill(t.Context(), "key", writes("code"))
	if os.Geteuid() == root {
		if err != nil { // root may write anyway
			t.Error(err)
		}
		return
	}
	if err == nil || errors.Is(err, ErrBusy) || errors.Is(err, ErrFilled) {
		t.Errorf("error = %v, want one about permissions", err)
	}
}

func TestDrop(t *testing.T) {
	d := newDir(t)
	put(t, d, "key", "code")
	put(t, d, "other", "code")
	if err := d.Drop("key"); err != nil {
		t.Fatal(err)
	}
	onlyThe(t, d, "other")
	if err := d.Drop("key"); err == nil {
		t.Error("dropping nothing is no error")
	}
}

func TestDropDoesNotWaitForAWriter(t *testing.T) {
	d := newDir(t)
	put(t, d, "key", "code")
	lock := flock.New(filepath.Join(d.path, lockName))
	if ok, err := lock.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	defer lock.Close()
	if err := d.Drop("key"); err != nil {
		t.Errorf("error = %v", err)
	}
	if _, err := d.Find("key"); err != nil {
		t.Errorf("the entry went: %v", err)
	}
}

func TestLockThatCannotBeMade(t *testing.T) {
	d := &Dir{path: filepath.Join(privateDir(t), "gone")}
	if err := d.Fill(t.Context(), "key", writes("code")); err == nil || !strings.Contains(err.Error(), "locking the cache") {
		t.Errorf("error = %v", err)
	}
}
