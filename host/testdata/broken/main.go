//go:build wasip1

// Command broken is a plugin that keeps the contract's form and then dies or
// answers nonsense.
package main

import (
	"os"

	pdk "github.com/extism/go-pdk"
)

//go:wasmexport outlast_abi_1
func marker() {}

//go:wasmexport describe
func describe() int32 { return 7 }

//go:wasmexport check
func check() int32 { return 0 }

//go:wasmexport decide
func decide() int32 {
	pdk.OutputString("nonsense")
	return 0
}

//go:wasmexport run
func run() int32 {
	os.Exit(1)
	return 0
}

func main() {}
