//go:build unix

package diskcache

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func newDir(t testing.TB) *Dir {
	t.Helper()
	d, err := Create(filepath.Join(privateDir(t), "cache"))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// put makes a complete entry.
func put(t testing.TB, d *Dir, key, code string) string {
	t.Helper()
	if err := d.Fill(t.Context(), key, writes(code)); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(d.path, key)
}

func TestFind(t *testing.T) {
	d := newDir(t)
	if _, err := d.Find("key"); !errors.Is(err, ErrNone) {
		t.Errorf("error = %v, want ErrNone", err)
	}
	want := put(t, d, "key", "code")
	if got, err := d.Find("key"); err != nil || got != want {
		t.Errorf("Find = %s, %v; want %s", got, err, want)
	}
	if _, err := d.Find("other"); !errors.Is(err, ErrNone) {
		t.Errorf("another key: %v", err)
	}
}

func TestFindNoticesDamage(t *testing.T) {
	for name, damage := range map[string]func(t *testing.T, code, marker string) error{
		"a flipped bit": func(t *testing.T, code, _ string) error { return os.WriteFile(code, []byte("codf"), 0o600) },
		"truncated":     func(t *testing.T, code, _ string) error { return os.Truncate(code, 2) },
		"emptied":       func(t *testing.T, code, _ string) error { return os.Truncate(code, 0) },
		"longer":        func(t *testing.T, code, _ string) error { return os.WriteFile(code, []byte("code and more"), 0o600) },
		"gone":          func(t *testing.T, code, _ string) error { return os.Remove(code) },
		"empty marker":  func(t *testing.T, _, marker string) error { return os.Truncate(marker, 0) },
		"marker that is no JSON": func(t *testing.T, _, marker string) error {
			return os.WriteFile(marker, []byte("complete"), 0o600)
		},
		"marker of a file elsewhere": func(t *testing.T, code, marker string) error {
			elsewhere := filepath.Join(filepath.Dir(filepath.Dir(marker)), "code")
			if err := os.Rename(code, elsewhere); err != nil {
				return err
			}
			text, err := os.ReadFile(marker)
			if err != nil {
				return err
			}
			return os.WriteFile(marker, bytes.Replace(text, []byte("sub/code"), []byte("../code"), 1), 0o600)
		},
		"marker that is a directory": func(t *testing.T, _, marker string) error {
			return errors.Join(os.Remove(marker), os.Mkdir(marker, 0o700))
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDir(t)
			entry := put(t, d, "key", "code")
			if err := damage(t, filepath.Join(entry, "sub", "code"), filepath.Join(entry, markerName)); err != nil {
				t.Fatal(err)
			}
			if _, err := d.Find("key"); err == nil || errors.Is(err, ErrNone) {
				t.Errorf("error = %v, want one about the damage", err)
			}
		})
	}
}

func TestFindWithoutMarkerIsNone(t *testing.T) {
	d := newDir(t)
	entry := put(t, d, "key", "code")
	if err := os.Remove(filepath.Join(entry, markerName)); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Find("key"); !errors.Is(err, ErrNone) {
		t.Errorf("error = %v, want ErrNone", err)
	}
}

func TestFindRemembersTheUse(t *testing.T) {
	d := newDir(t)
	marker := filepath.Join(put(t, d, "key", "code"), markerName)
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(marker, old, old); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Find("key"); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(marker)
	if err != nil {
		t.Fatal(err)
	}
	if time.Since(info.ModTime()) > 30*time.Minute {
		t.Errorf("last used %v ago", time.Since(info.ModTime()))
	}
}

// All files of an entry are code, and each is checked.
func TestSealDescribesAllFiles(t *testing.T) {
	if err := seal(t.TempDir()); err == nil || !strings.Contains(err.Error(), "left nothing") {
		t.Errorf("none: %v", err)
	}
	for name, why := range map[string]string{
		"a": "a has 4 bytes, 1 were written",
		"b": "b has 4 bytes, 1 were written",
		"c": "c has 4 bytes, 0 were written", // it was not there
	} {
		dir := t.TempDir()
		for _, file := range []string{"a", "b"} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(file), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := seal(dir); err != nil {
			t.Fatal(err)
		}
		sealed, err := readMarker(filepath.Join(dir, markerName))
		if err != nil {
			t.Fatal(err)
		}
		if err := check(dir, sealed); err != nil {
			t.Errorf("as it was sealed: %v", err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte("more"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := check(dir, sealed); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, want %s", name, err, why)
		}
	}
}
