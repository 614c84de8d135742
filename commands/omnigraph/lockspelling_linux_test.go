package omnigraph

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// writer is another process that holds the lock of a store.
func writer(t *testing.T, store string) (release func()) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	cmd := exec.CommandContext(ctx, self, "-test.run=^TestChildLocks$")
	cmd.Env = append(os.Environ(), "OUTLAST_TEST_STORE="+store, "GORACE=atexit_sleep_ms=0") // no second for each
	in, lines := talking(t, cmd)
	if !lines.Scan() || lines.Text() != "locked, here true" {
		t.Fatalf("a writer of %q says %q", store, lines.Text())
	}
	return func() {
		defer cancel()
		in.Close()
		for lines.Scan() {
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("a writer of %q: %v", store, err)
		}
	}
}

// excluded says whether a writer of the store would have to wait.
func excluded(t *testing.T, store string) bool {
	t.Helper()
	return slices.ContainsFunc(LockPaths(Invocation{Write: true, Store: store}), func(path string) bool {
		if err := os.MkdirAll(parent(path), lockDirMode); err != nil {
			t.Fatal(err)
		}
		return !free(t, path)
	})
}

// Two writers of one store exclude each other, however each spells it; and they
// are free again afterwards.
func TestWritersOfEverySpellingExcludeEachOther(t *testing.T) {
	spellings, _ := spelt(t)
	for _, one := range spellings {
		release := writer(t, one)
		for _, other := range spellings {
			if !excluded(t, other) {
				t.Errorf("%q and %q are written at the same time", one, other)
			}
		}
		release()
	}
	for _, one := range spellings {
		if excluded(t, one) {
			t.Errorf("%q stays locked", one)
		}
	}
}

// witan-core, by a plain spelling of the store, excludes this lock by every
// spelling; and by any spelling it excludes it by the same.
func TestWitanCoreExcludesEverySpelling(t *testing.T) {
	spellings, lock := spelt(t)
	python := pythonHolds(t, lock)
	python.held()
	for _, store := range spellings {
		if !excluded(t, store) {
			t.Errorf("%q is free while Python has %s", store, lock)
		}
	}
	python.release()
	for _, store := range spellings {
		python := pythonHolds(t, purePosixPath(store+".lock"))
		python.held()
		if !excluded(t, store) {
			t.Errorf("%q is free while Python has it by the same spelling", store)
		}
		python.release()
	}
}

// A lock that an ancestor holds by one name is left with it; the others are taken.
func TestAPartOfTheLockIsAboveUs(t *testing.T) {
	_, lock := spelt(t)
	f := startFamily(t, "link.lock", "held = hold()\nsubprocess.run(child)", "OUTLAST_TEST_STORE=link")
	for f.lines.Scan() && !strings.HasPrefix(f.lines.Text(), "locked") {
		if !strings.Contains(f.lines.Text(), "above true") {
			t.Errorf("the child says %q", f.lines.Text())
		}
	}
	if got := f.lines.Text(); got != "locked, here true" {
		t.Errorf("the child says %q", got)
	}
	if free(t, lock) {
		t.Error("the real store's lock is free")
	}
}

// Names of one file are locked once: by another name it would wait for itself.
func TestOneFileByManyNames(t *testing.T) {
	spelt(t)
	if err := os.WriteFile("a.lock", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Link("a.lock", "hard.lock"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("a.lock", "soft.lock"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	held, err := Lock(ctx, []string{"soft.lock", "a.lock", "./a.lock", "hard.lock", "here/a.lock", "b.lock"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(held.Files()); n != 2 {
		t.Errorf("%d files are locked, not a and b", n)
	}
	if free(t, "hard.lock") || free(t, "b.lock") {
		t.Error("one is free")
	}
	if err := held.Release(); err != nil {
		t.Error(err)
	}
	if !free(t, "a.lock") || !free(t, "b.lock") {
		t.Error("one stays locked")
	}
}

// If the second lock cannot be had, the first is given up.
func TestNothingStaysLockedAfterAnError(t *testing.T) {
	spelt(t)
	if _, err := Lock(t.Context(), []string{"a.lock", "sub"}, nil); err == nil {
		t.Fatal("a directory is locked")
	}
	release := writer(t, "b")
	defer release()
	ctx, cancel := context.WithCancel(t.Context())
	_, err := Lock(ctx, []string{"a.lock", "b.lock"}, func(Holder) { cancel() })
	if err == nil || !strings.Contains(err.Error(), "b.lock") {
		t.Errorf("while another has b: %v", err)
	}
	if !free(t, "a.lock") {
		t.Error("a stays locked")
	}
}
