//go:build linux

// Command herd has many callers of one machine wait for a server that is away, and
// measures how they come back to it: real commands, and processes in Go, Python
// and Node with many calls each. The server serves one request after another, so
// many a second.
//
//	go run ./tests/herd -commands 500 -capacity 50
//	go run ./tests/herd -go 334 -python 333 -node 333 -capacity 200
//	go run ./tests/herd -commands 100 -capacity 50 -kill 20 -stop 20
//	go run ./tests/herd -commands 100 -capacity 50 -users 20       as root
//
// Python is python/.venv, Node's package js/dist: python/check.sh and js/check.sh
// make them. It ends with 1 if a goal is missed. The figures are of a machine that
// does nothing else.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == driveVerb {
		drive(os.Args[2], os.Args[3])
		return
	}
	h := &herd{counts: map[string]*int{}, over: map[int]bool{}, stopped: map[string]bool{}}
	for _, kind := range kinds {
		h.counts[kind] = flag.Int(kind, 0, "how many callers are `"+kind+"`'s")
	}
	flag.StringVar(&h.tool, "outlast", "", "the `PATH` of the tool (default: built from here)")
	flag.Float64Var(&h.capacity, "capacity", 50, "requests a second that the server serves")
	flag.DurationVar(&h.away, "away", 20*time.Second, "how long the server is away once all wait")
	flag.IntVar(&h.kills, "kill", 0, "how many commands are killed meanwhile and after the return, every other one that looks")
	flag.IntVar(&h.stops, "stop", 0, "how many are stopped for a second or two")
	flag.IntVar(&h.users, "users", 1, "how many users they are of")
	flag.Parse()
	found, err := h.run()
	if err != nil {
		fmt.Fprintln(os.Stderr, "herd:", err)
		os.Exit(2)
	}
	fmt.Print(found)
	if !found.isGood() {
		os.Exit(1)
	}
}
