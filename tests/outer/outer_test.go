//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// TestMain lets the test's program be the server and the client.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "serve" || filepath.Base(os.Args[0]) == client {
		main()
		return
	}
	os.Exit(m.Run())
}

// Whatever is killed, and whoever runs it again: with a journal nothing is
// applied twice, and nothing is lost without a name. Without one it is, so the
// test could fail.
func TestNothingIsAppliedTwiceAtAnyLayer(t *testing.T) {
	if testing.Short() {
		t.Skip("a hundred real writes")
	}
	tool := filepath.Join(t.TempDir(), "outlast")
	cmd := exec.Command("go", "build", "-o", tool, "outlast/cmd/outlast")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, kept := range []bool{true, false} {
		s := &storm{outlast: tool, writes: 60, atOnce: 8, journal: kept, seed: uint64(time.Now().UnixNano())}
		found, err := s.run()
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("journal %t, seed %d:\n%s", kept, s.seed, found)
		if kept && !found.isRight() {
			t.Error("a write was applied twice, or lost without a name")
		}
		if !kept && found.twice == 0 {
			t.Error("without a journal none was applied twice: the storm is too weak to show anything")
		}
	}
}
