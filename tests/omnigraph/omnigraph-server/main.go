// Command omnigraph-server stands in for the real one in tests; internal/standin
// says how.
package main

import (
	"os"

	"outlast/internal/standin"
)

func main() { os.Exit(standin.ServerMain(os.Args[1:], os.Stdout, os.Stderr)) }
