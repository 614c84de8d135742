//go:build unix

package process

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// A command is found where execvp(3) finds it, whatever PATH is or is not.
func TestLookPath(t *testing.T) {
	t.Setenv("PATH", "") // is put back afterwards
	t.Chdir(t.TempDir())
	if err := os.WriteFile("here", []byte("#!/bin/sh\necho here\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("locked", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path  string
		set   bool
		name  string
		code  int // 0: it runs
		first string
	}{
		{name: "echo", first: "\n"},
		{name: "sh"},
		{name: "here", code: exitNotFound},
		{name: "/bin/echo", first: "\n"},
		{path: "", set: true, name: "here", first: "here\n"},
		{path: "", set: true, name: "locked", code: exitCannotRun},
		{path: "", set: true, name: "echo", code: exitNotFound},
		{path: dir, set: true, name: "here", first: "here\n"},
		{path: filepath.Join(dir, "none"), set: true, name: "here", code: exitNotFound},
	} {
		os.Setenv("PATH", c.path)
		if !c.set {
			os.Unsetenv("PATH")
		}
		command := &Command{Argv: []string{c.name}}
		var start *StartError
		if code := 0; errors.As(Find(c.name), &start) {
			if code = start.ExitCode; code != c.code {
				t.Errorf("%+v: Find gives %d", c, code)
			}
		} else if c.code != 0 {
			t.Errorf("%+v: Find finds it", c)
		}
		if c.code != 0 {
			if _, err := command.Attempt(t.Context()); !errors.As(err, &start) || start.ExitCode != c.code {
				t.Errorf("%+v: %v", c, err)
			}
			continue
		}
		if _, stdout, _ := attempt(t, command); stdout != c.first {
			t.Errorf("%+v: %q", c, stdout)
		}
	}
}
