//go:build unix

package journal

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// inPython runs a program with outlast.journal, and gives what it prints.
func inPython(t *testing.T, program string, args ...string) string {
	t.Helper()
	cmd := exec.Command("python3", append([]string{"-c", "import sys\nsys.path.insert(0, '../python/src')\nfrom outlast.journal import *\n" +
		"from outlast import Outcome, Result\n" + program}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	return strings.TrimSpace(string(out))
}

// What Go has written, Python goes by.
func TestPythonReadsGo(t *testing.T) {
	j := open(t, Options{})
	code := int64(0)
	for key, end := range map[string]*End{
		"ok":      {Outcome: "ok", ExitCode: &code, Stdout: []byte("out é\n"), Stderr: []byte("\xff")},
		"none":    {Outcome: "failed", EffectsNone: true},
		"unknown": {Outcome: "indeterminate"},
		"killed":  nil,
	} {
		r := begin(t, j, given(t, key), line)
		if err := r.Attempt(1); err != nil {
			t.Fatal(err)
		}
		if end != nil {
			if err := r.Finish(*end); err != nil {
				t.Fatal(err)
			}
		}
		r.Close()
	}
	got := inPython(t, `
j = Journal(sys.argv[1])
for key in ("ok", "none", "unknown", "killed", "other"):
    try:
        run = j.begin(key if key != "other" else "ok", ["write", "1"] if key != "other" else ["write", "2"])
        print(key, (run.stdout, run.stderr, run.exit_code) if isinstance(run, Earlier) else "runs")
    except JournalError as e:
        print(key, type(e).__name__)`, j.Dir())
	want := `ok (b'out \xc3\xa9\n', b'\xff', 0)
none runs
unknown InDoubt
killed InDoubt
other JournalError`
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// What Python has written, Go goes by; and each keeps the other out while its
// run is under way.
func TestGoReadsPython(t *testing.T) {
	j := open(t, Options{})
	inPython(t, `
j = Journal(sys.argv[1], secrets=["s3cret"])
def begin(key):
    run = j.begin(key, ["write", "1"], target="http://h")
    run.attempt()
    return run
begin("ok").finish(Outcome("ok", result=Result(exit_code=0)), stdout="out é s3cret".encode(), stderr=b"\xff")
begin("none").finish(Outcome("failed", effects="none"))
begin("unknown").finish(Outcome("indeterminate", effects="unknown"))
run = begin("unsent"); run.ended(effects="none"); run.close()
begin("killed")`, j.Dir())
	for key, want := range map[string]State{"ok": Applied, "none": NotApplied, "unknown": InDoubt, "unsent": NotApplied, "killed": InDoubt} {
		run, earlier, err := j.Begin(t.Context(), given(t, key), line)
		var doubt *InDoubtError
		switch {
		case want == Applied && (earlier == nil || string(earlier.Stdout) != "out é [redacted]" || string(earlier.Stderr) != "\xff" || *earlier.ExitCode != 0),
			want == InDoubt && !errors.As(err, &doubt), want == NotApplied && run == nil:
			t.Errorf("%s: %v, %+v, %v", key, run, earlier, err)
		}
		if run != nil {
			run.Close()
		}
	}
	r := begin(t, j, given(t, "both"), line)
	defer r.Close()
	if got := inPython(t, `
try:
    Journal(sys.argv[1]).begin("both", ["write", "1"], timeout=0.1)
except JournalError as e:
    print("another run" in str(e))`, j.Dir()); got != "True" {
		t.Error(got)
	}
	if got := inPython(t, `
import subprocess
run = Journal(sys.argv[1]).begin("held", ["write", "1"])
print(subprocess.run(["true"]).returncode, sys.argv[1])`, j.Dir()); got != fmt.Sprint("0 ", j.Dir()) {
		t.Error(got)
	}
}
