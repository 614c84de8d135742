package main

import (
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/alecthomas/kong"
)

// Each verb has a Run that the command line can call.
func TestEachVerbRuns(t *testing.T) {
	parser, err := newParser(&cli{})
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range leaves(parser.Model.Node) {
		if (&parsed{}).runOf(verb.Target.Addr().Interface()) == nil {
			t.Errorf("%s has no Run of a known form", verb.Path())
		}
	}
}

// leaves are the verbs without verbs of their own.
func leaves(node *kong.Node) (list []*kong.Node) {
	if len(node.Children) == 0 {
		return []*kong.Node{node}
	}
	for _, child := range node.Children {
		list = append(list, leaves(child)...)
	}
	return list
}

// One method that is looked for by a name which is known only at run time makes the
// linker keep all methods of all types, two megabytes of them.
func TestTheLinkerCanLeaveMethodsOut(t *testing.T) {
	if testing.Short() {
		t.Skip("the tool is linked, and what it is made of is printed")
	}
	link := exec.Command("go", "build", "-ldflags=-w -dumpdep", "-o", filepath.Join(t.TempDir(), "outlast"), ".")
	link.Stdout = io.Discard
	pipe, err := link.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := link.Start(); err != nil {
		t.Fatal(err)
	}
	graph, err := io.ReadAll(pipe)
	if err != nil {
		t.Fatal(err)
	}
	if err := link.Wait(); err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`(?m)^main\.main -> `).Match(graph) {
		t.Fatal("the linker told nothing of main")
	}
	for _, call := range regexp.MustCompile(`(?m)^.* -> (\S+) <ReflectMethod>`).FindAllSubmatch(graph, -1) {
		t.Errorf("%s looks for methods by name", call[1])
	}
}
