// Command kernel writes kernel.wasm to stdout: kernel.wat, assembled. It knows as
// much of WebAssembly's text format as that file uses, so that building the module
// needs nothing but Go; any other assembler makes the same functions of it.
package main

import (
	_ "embed"
	"os"
)

//go:embed kernel.wat
var source string

func main() {
	os.Stdout.Write(assemble(source))
}
