//go:build unix

package process

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Only what cannot be started comes back from Replace.
func TestReplaceSaysWhatCannotBeStarted(t *testing.T) {
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		argv []string
		code int
	}{
		{nil, 127},
		{[]string{""}, 127},
		{[]string{"no-such-command-anywhere"}, 127},
		{[]string{filepath.Join(t.TempDir(), "missing")}, 127},
		{[]string{plain}, 126},
		{[]string{t.TempDir()}, 126},
	} {
		var start *StartError
		if err := Replace(test.argv, os.Environ()); !errors.As(err, &start) || start.ExitCode != test.code {
			t.Errorf("%q: %v, want exit code %d", test.argv, err, test.code)
		}
	}
}
