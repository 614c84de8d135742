package omnigraph

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestIs(t *testing.T) {
	for command, want := range map[string]bool{
		"omnigraph":                 true,
		"/usr/local/bin/omnigraph":  true,
		"./omnigraph":               true,
		"omnigraph-server":          false,
		"omnigraph/bin/query":       false,
		"my-omnigraph":              false,
		"Omnigraph":                 runtime.GOOS == "windows",
		"omnigraph.exe":             runtime.GOOS == "windows",
		"":                          false,
		".":                         false,
		"omnigraph --server http:/": false,
	} {
		if Is(command) != want {
			t.Errorf("Is(%q) is %v", command, !want)
		}
	}
}

// lines reads a file of test data, one JSON value a line.
func lines[T any](t testing.TB, name string) []T {
	t.Helper()
	f, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []T
	for scan := bufio.NewScanner(f); scan.Scan(); {
		var one T
		if err := json.Unmarshal(scan.Bytes(), &one); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, one)
	}
	if len(all) == 0 {
		t.Fatalf("%s is empty", name)
	}
	return all
}

// python is a Python 3 program that answers on its stdout.
func python(t *testing.T, program string, args ...string) *exec.Cmd {
	t.Helper()
	path, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 here")
	}
	cmd := exec.Command(path, append([]string{"-c", program}, args...)...)
	cmd.Stderr = os.Stderr
	return cmd
}

func args(line string) []string { return strings.Fields(line) }
