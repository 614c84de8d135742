// Command services restarts real services, in FastAPI, Express and net/http, while
// clients of Go, Python and Node call them: with outlast's transports, with other retry
// transports, and with none. It prints what each client was told and what the services'
// ledgers say of it. The table in docs/http-clients.md is its output:
//
//	python/check.sh && js/check.sh
//	cd tests/services && go run . -checkout ../..
//
// It needs the virtual environment and the node_modules that these make.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"
)

func main() {
	if len(os.Args) == 4 && os.Args[1] == serveVerb {
		fail(serve(os.Args[2], os.Args[3]))
	}
	if len(os.Args) == 3 && os.Args[1] == driveVerb {
		fail(drive(os.Args[2]))
		return
	}
	r := run{}
	flag.StringVar(&r.checkout, "checkout", "../..", "the folder with python and js")
	flag.IntVar(&r.requests, "requests", 1000, "by each client to each service")
	flag.DurationVar(&r.over, "over", 60*time.Second, "the time in which they begin")
	flag.DurationVar(&r.away, "away", 4*time.Second, "between a service's end and its next start")
	flag.Uint64Var(&r.seed, "seed", 1, "of what is called")
	flag.Parse()
	found, err := r.all()
	fail(err)
	fmt.Print(tableOf(found))
	for _, wrong := range faults(found) {
		fmt.Fprintln(os.Stderr, "services: "+wrong)
		defer os.Exit(1)
	}
}

const (
	serveVerb = "serve"
	driveVerb = "drive"
)

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "services:", err)
		os.Exit(2)
	}
}
