//go:build linux

package main

import (
	"os"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == driveVerb {
		drive(os.Args[2], os.Args[3])
		return
	}
	os.Exit(m.Run())
}

// A few real commands and the calls of another process, of which some are killed
// and stopped: all others come through, and the server's queue stays short. The
// program's goals are for a machine that does nothing else.
func TestHerd(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the tool, and starts 24 of it")
	}
	t.Chdir("../..")
	commands, calls, python, node := 24, 60, 0, 0
	if _, err := os.Stat("python/.venv/bin/python"); err == nil {
		python = 30
	}
	if _, err := os.Stat("js/dist"); err == nil {
		node = 30
	}
	h := &herd{
		counts:   map[string]*int{"commands": &commands, "go": &calls, "python": &python, "node": &node},
		capacity: 100, away: 3 * time.Second, kills: 6, stops: 6, users: 1,
		over: map[int]bool{}, stopped: map[string]bool{},
	}
	found, err := h.run()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("\n%v", found)
	if len(found.failed) > 0 || found.served+found.killed < found.callers || found.killed == 0 {
		t.Error("callers are lost")
	}
	if found.queue > (commands+calls+python+node)/2 {
		t.Errorf("%d of them are in the server's queue", found.queue)
	}
}
