//go:build unix

package main

import (
	"os"
	"testing"
	"time"
)

// TestMain lets the test's program be the driver of Go.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == driveVerb {
		main()
		return
	}
	os.Exit(m.Run())
}

// Whatever fails, by whatever client: no write is applied twice, and what a call is
// told is so. Where writes are declared as reads it is not, so the test could fail.
func TestWhatFunctionsAreToldIsSo(t *testing.T) {
	if testing.Short() {
		t.Skip("hundreds of real requests, and an interpreter for each language")
	}
	for _, careless := range []bool{false, true} {
		s := &storm{checkout: "../..", calls: 150, atOnce: 12, careless: careless, seed: uint64(time.Now().UnixNano())}
		if missing := s.missing(); missing != "" {
			t.Skip(missing)
		}
		found, err := s.run()
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case careless && found.sum(twice) == 0:
			t.Errorf("writes that were declared as reads were all applied once: the storm is too weak to show anything\n%s", found)
		case !careless && !found.isRight():
			t.Errorf("a write was applied twice, or a call was told what is not so:\n%s", found)
		case !careless:
			t.Log(found)
		}
	}
}
