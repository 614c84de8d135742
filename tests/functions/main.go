//go:build unix

// Command functions calls a server that counts, and that fails at random at every
// phase of a request, by functions in Go, Python and Node with their own clients. In
// the end it compares the server's ledger with what each call was told.
//
//	go run ./tests/functions -calls 10000
//
// Python is python/.venv, Node's package js/dist, of the checkout that it runs in:
// python/check.sh and js/check.sh make them.
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
	s := storm{}
	flag.StringVar(&s.checkout, "checkout", ".", "the folder with python and js")
	flag.IntVar(&s.calls, "calls", 300, "how many calls")
	flag.IntVar(&s.atOnce, "at-once", 12, "how many at a time, in each language")
	flag.Uint64Var(&s.seed, "seed", uint64(time.Now().UnixNano()), "of what is called, and of the faults")
	flag.BoolVar(&s.careless, "careless", false, "declare writes as reads, to see that it would be noticed")
	flag.Parse()
	found, err := s.run()
	if err != nil {
		fmt.Fprintln(os.Stderr, "functions:", err)
		os.Exit(2)
	}
	fmt.Print(found)
	if !found.isRight() {
		os.Exit(1)
	}
}
