//go:build unix

package process

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestStartErrors(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	plain := write("plain", "", 0o600)
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	for _, c := range []struct {
		name string
		argv []string
		dir  string
		code int
	}{
		{"no command", nil, "", 127},
		{"empty name", []string{""}, "", 127},
		{"not on the PATH", []string{"no-such-program-here"}, "", 127},
		{"no such file", []string{dir + "/none"}, "", 127},
		{"below a file", []string{plain + "/x"}, "", 127},
		{"not executable", []string{plain}, "", 126},
		{"on the PATH, not executable", []string{"plain"}, "", 126},
		{"a directory", []string{dir}, "", 126},
		{"no program", []string{write("binary", "\x7fELF\x00\x01", 0o700)}, "", 126},
		{"no interpreter", []string{write("script", "#!/no/such/shell\n", 0o700)}, "", 127},
		{"NUL in an argument", []string{"true", "a\x00b"}, "", 126},
		{"no working directory", []string{"true"}, dir + "/none", 126},
		{"working directory is a file", []string{"true"}, plain, 126},
	} {
		e, err := (&Command{Argv: c.argv, Dir: c.dir}).Attempt(t.Context())
		var start *StartError
		if e != nil || !errors.As(err, &start) || start.ExitCode != c.code {
			t.Errorf("%s: %v, want exit code %d", c.name, err, c.code)
			continue
		}
		if c.dir != "" && !strings.Contains(err.Error(), c.dir) {
			t.Errorf("%s: the message does not name it: %v", c.name, err)
		}
		if !strings.HasPrefix(err.Error(), "outlast: starting ") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// The codes are a real shell's.
func TestStartErrorsAreAShells(t *testing.T) {
	shell, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash here")
	}
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/plain", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	for _, name := range []string{"none", "./none", "plain", dir + "/plain", dir} {
		var theirs *exec.ExitError
		if err := exec.Command(shell, "-c", name).Run(); !errors.As(err, &theirs) {
			t.Fatalf("%s: %v", name, err)
		}
		var ours *StartError
		if _, err := (&Command{Argv: []string{name}}).Attempt(t.Context()); !errors.As(err, &ours) {
			t.Fatalf("%s: %v", name, err)
		}
		if ours.ExitCode != theirs.ExitCode() {
			t.Errorf("%s: %d, a shell %d", name, ours.ExitCode, theirs.ExitCode())
		}
	}
}

func TestWorkingDirectoryOnThePath(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("here", []byte("#!/bin/sh\nexit 7\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", ".")
	e, err := (&Command{Argv: []string{"here"}}).Attempt(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if *e.Result.ExitCode != 7 {
		t.Errorf("exit code %d", *e.Result.ExitCode)
	}
}
