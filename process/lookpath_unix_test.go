//go:build unix

package process

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// A command is found, and started, as execvp(3) and a shell's exec do it, with
// any PATH and with none.
func TestCommandsAreFoundAsByTheSystem(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"here": 0o755, "plain": 0o644} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\nexit 7\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	for _, c := range []struct {
		path       string // "-": not set
		name       string
		code       int // of the attempt, or a shell's for one that cannot be run
		cannotFind bool
	}{
		{"-", "true", 0, false},
		{"-", "here", 127, true},
		{"-", "./here", 7, false},
		{"-", "no-such-command", 127, true},
		{"", "here", 7, false},
		{"", "true", 127, true},
		{"", "plain", 126, true},
		{".", "here", 7, false},
		{dir, "here", 7, false},
		{dir, "plain", 126, true},
		{"/nonexistent:" + dir, "here", 7, false},
	} {
		t.Run(c.path+" "+c.name, func(t *testing.T) {
			t.Setenv("PATH", c.path) // and is back afterwards
			if c.path == "-" {
				os.Unsetenv("PATH")
			}
			found := Find(c.name)
			if path, err := LookPath(c.name); (err != nil) != c.cannotFind || (found != nil) != c.cannotFind {
				t.Fatalf("found %q, %v; %v", path, err, found)
			}
			e, err := (&Command{Argv: []string{c.name}}).Attempt(t.Context())
			switch {
			case c.cannotFind:
				if start, ok := err.(*StartError); !ok || start.ExitCode != c.code {
					t.Errorf("%v", err)
				}
			case err != nil:
				t.Error(err)
			case *e.Result.ExitCode != int64(c.code):
				t.Errorf("exit code %d", *e.Result.ExitCode)
			}
			// As the system itself has it, where its shell can be had.
			sh := exec.Command("/bin/sh", "-c", `exec "$0"`, c.name)
			if c.path == "-" {
				return // each shell has a default of its own
			}
			if err := sh.Run(); err == nil == (c.code != 0) || err != nil && sh.ProcessState.ExitCode() != c.code {
				t.Errorf("%s: a shell ends with %v", c.name, err)
			}
		})
	}
}
