package engine

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func init() {
	// A process that may not make memory executable, as systemd's
	// MemoryDenyWriteExecute has it.
	helpers["forbidden"] = func() int {
		const prSetMDWE, refuseExecGain = 65, 1
		if err := unix.Prctl(prSetMDWE, refuseExecGain, 0, 0, 0); err != nil {
			os.Stdout.WriteString("cannot be forbidden: " + err.Error())
			return 0
		}
		e := New(Options{Wasm: small(0), Mode: Compiler, OnLoad: func(l Loaded) {
			os.Stdout.WriteString(l.How.String() + " because " + l.Why)
		}})
		i, err := e.NewInstance(context.Background())
		if err == nil {
			_, err = i.Call(context.Background(), "decide", []byte("x"), nil)
		}
		if err != nil {
			os.Stdout.WriteString(err.Error())
			return 1
		}
		return 0
	}
}

// TestForbiddenExecutableMemory is TestNoExecutableMemory with a real process.
func TestForbiddenExecutableMemory(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), helperVariable+"=forbidden")
	out, err := cmd.CombinedOutput()
	if strings.HasPrefix(string(out), "cannot be forbidden") {
		t.Skipf("%s (Linux 6.3 can)", out)
	}
	if err != nil || !strings.HasPrefix(string(out), "interpreted because compiled code cannot be run here") {
		t.Errorf("%v: %s", err, out)
	}
}
