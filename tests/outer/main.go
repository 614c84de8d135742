//go:build unix

// Command outer runs writes under the layers that run a failed command again: a
// Kubernetes Job, a systemd unit and a CI job, each emulated as its manual says.
// Meanwhile it kills outlast, the command and the server at random moments. In
// the end it compares the server's ledger with what each layer was told.
//
//	go run ./tests/outer -outlast bin/outlast -writes 10000
//	go run ./tests/outer -outlast bin/outlast -writes 10000 -journal=false
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		serve(os.Args[2], os.Args[3])
		return
	}
	if filepath.Base(os.Args[0]) == client {
		os.Exit(write(os.Args[3], os.Args[4])) // mutate --server URL ID
	}
	s := storm{}
	flag.StringVar(&s.outlast, "outlast", "bin/outlast", "the tool")
	flag.IntVar(&s.writes, "writes", 1000, "how many writes")
	flag.IntVar(&s.atOnce, "at-once", 16, "how many at a time")
	flag.BoolVar(&s.journal, "journal", true, "keep a journal")
	flag.Uint64Var(&s.seed, "seed", uint64(time.Now().UnixNano()), "of the random moments")
	flag.Parse()
	found, err := s.run()
	if err != nil {
		fmt.Fprintln(os.Stderr, "outer:", err)
		os.Exit(2)
	}
	fmt.Print(found)
	if s.journal && !found.isRight() {
		os.Exit(1)
	}
}
