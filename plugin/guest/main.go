// Command guest is outlast's plugin: the policy behind the exports of the
// contract in abi. It is built by build.sh with
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared
//
// It never asks for the time, never sleeps, never draws a random number and
// never does I/O: what it needs of these, its host provides.
package main

// main never runs: a host calls _initialize and then the exports.
func main() {}
