// Command generate writes what follows from the contract's messages, as package
// abi describes them: the schemas in abi/schema, the tables in abi/ABI.md, and
// the wire types of the Python and npm packages.
//
//	go run ./abi/generate
//
// Run it in the repository's root. A test fails where the files are others.
package main

import (
	"fmt"
	"os"
)

func main() {
	files, err := generated(".")
	if err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
	for name, text := range files {
		if err := os.WriteFile(name, text, 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "generate:", err)
			os.Exit(1)
		}
	}
}
