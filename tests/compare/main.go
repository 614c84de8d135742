//go:build unix

// Command compare runs the same scripts through outlast and through the retry
// tools that this machine has, and prints what came of it as a Markdown table.
// The table in docs/comparison.md is its output:
//
//	go run ./tests/compare bin/outlast retry attempt
//
// An argument is a tool's name, or a path of the program with that name. A
// tool that is not there has no column.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	var found []tool
	for _, arg := range os.Args[1:] {
		t, err := find(arg)
		if err != nil {
			fmt.Fprintf(os.Stderr, "compare: %v\n", err)
			continue
		}
		found = append(found, t)
	}
	if len(found) == 0 {
		fmt.Fprintf(os.Stderr, "usage: compare PROGRAM…, each one of %s\n", strings.Join(names(), ", "))
		os.Exit(2)
	}
	table(found)
}

// find is the tool of this name, with the program's path.
func find(arg string) (tool, error) {
	for _, t := range tools {
		if arg != t.name && !strings.HasSuffix(arg, "/"+t.program) {
			continue
		}
		path := arg
		if arg == t.name {
			path = t.program
		}
		path, err := exec.LookPath(path)
		if err == nil {
			path, err = filepath.Abs(path) // each script has a folder of its own
		}
		t.program = path
		return t, err
	}
	return tool{}, fmt.Errorf("%s: expected one of %s", arg, strings.Join(names(), ", "))
}

func names() []string {
	var list []string
	for _, t := range tools {
		list = append(list, t.name)
	}
	return list
}

func table(found []tool) {
	fmt.Print("| script |")
	for _, t := range found {
		fmt.Printf(" %s |", t.title)
	}
	fmt.Print("\n|---|", strings.Repeat("---|", len(found)), "\n")
	for _, s := range scripts {
		fmt.Printf("| %s |", s.what)
		for _, t := range found {
			fmt.Printf(" %s |", cell(s.try(t)))
		}
		fmt.Println()
	}
}

func cell(err error) string {
	if err == nil {
		return "yes"
	}
	return "**no**: " + strings.ReplaceAll(strings.ReplaceAll(err.Error(), "|", "\\|"), "\n", " ")
}
