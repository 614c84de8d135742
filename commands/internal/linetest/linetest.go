// Package linetest has what the tests of several commands' lines take.
package linetest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"outlast/commands/internal/line"
)

// Sure is what a test expects of a line.
type Sure struct{ Read, Direct bool }

// What a line may be.
var (
	Unsure     = Sure{}
	Reads      = Sure{Read: true}
	Direct     = Sure{Direct: true}
	DirectRead = Sure{true, true}
)

// Of is what a line says.
func Of(l line.Line) Sure { return Sure{l.Read, l.Direct} }

// Check reads lines, whose words stand between single spaces, in a home with
// these files. HOME in a line is that home. The account has none.
func Check(t *testing.T, command line.Command, want map[string]Sure, files ...string) {
	t.Helper()
	AccountAt(t, "", true)
	home := t.TempDir()
	for _, name := range files {
		Write(t, filepath.Join(home, name), "SELECT 1;\n", 0o600)
	}
	for text, want := range want {
		argv := strings.Split(strings.ReplaceAll(text, "HOME", home), " ")
		if got := Of(command.Parse(argv, []string{"HOME=" + home})); got != want {
			t.Errorf("%.80s, with %q: %+v, want %+v", text, files, got, want)
		}
	}
}

// AccountAt gives this process's account another home for a test; "" for none.
func AccountAt(t *testing.T, dir string, known bool) {
	t.Helper()
	was := line.AccountHome
	line.AccountHome = func() (string, bool) { return dir, known }
	t.Cleanup(func() { line.AccountHome = was })
}

// Write makes a file, and the directories that it is in.
func Write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil { // whatever the umask
		t.Fatal(err)
	}
}
