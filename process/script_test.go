//go:build unix

package process

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func init() {
	// replaced COMMAND...: becomes the command
	children["replaced"] = func(args []string) { must(Replace(args, os.Environ())) }
}

// A script without an interpreter is run by the shell, as execvp(3) has it: the same
// comes out as by env.
func TestScriptsWithoutAnInterpreter(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for name, text := range map[string]string{
		"script": `printf '%s|' "$0" "$@"; exit 5`,
		"empty":  "",
		"lines":  "\n# a comment\nexit 6\n",
		"late":   "exit 7\n\x00\x01",
		"-x":     "echo option; exit 8",
	} {
		if err := os.WriteFile(name, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir("sub", 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":.:"+os.Getenv("PATH"))
	for _, c := range []struct {
		dir  string
		argv []string
	}{
		{"", []string{"./script", "a b", "-c", ""}},
		{"", []string{"script", "on the path"}},
		{"", []string{filepath.Join(dir, "script")}},
		{"sub", []string{"../script"}},
		{"", []string{"./empty"}},
		{"", []string{"./lines"}},
		{"", []string{"./late"}},
		{"", []string{"./-x"}},
	} {
		env := exec.Command("env", append([]string{"--"}, c.argv...)...)
		env.Dir = c.dir
		want, _ := env.Output()
		code := env.ProcessState.ExitCode()

		e, got, _ := attempt(t, &Command{Argv: c.argv, Dir: c.dir})
		if e.ShellStatus() != code || got != string(want) {
			t.Errorf("%q: %d, %q; env has %d, %q", c.argv, e.ShellStatus(), got, code, want)
		}
		r := command(t, "replaced", c.argv...)
		r.Dir = c.dir
		if e, got, stderr := attempt(t, r); e.ShellStatus() != code || got != string(want) {
			t.Errorf("replaced by %q: %d, %q, %q; env has %d, %q", c.argv, e.ShellStatus(), got, stderr, code, want)
		}
	}

	t.Setenv("PATH", ".") // where a name must not become an option of the shell's
	for _, name := range []string{"-x", "script"} {
		if e, got, stderr := attempt(t, &Command{Argv: []string{name}}); stderr != "" || e.ShellStatus() < 5 || got == "" {
			t.Errorf("%s: %d, %q, %q", name, e.ShellStatus(), got, stderr)
		}
	}
}
