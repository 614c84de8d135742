//go:build linux

package main

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// outlast gets every script right.
func TestOutlast(t *testing.T) {
	program := filepath.Join(t.TempDir(), "outlast")
	if out, err := exec.Command("go", "build", "-o", program, "outlast/cmd/outlast").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	outlast, err := find(program)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range scripts {
		t.Run(s.what, func(t *testing.T) {
			t.Parallel()
			if err := s.try(outlast); err != nil {
				t.Error(err)
			}
		})
	}
}

// The scripts can fail: a tool that only runs the command gets some wrong.
func TestScriptsTellToolsApart(t *testing.T) {
	bare := tool{name: "env", title: "env", program: "env", argv: func(p string, argv []string) []string {
		return append([]string{p}, argv...)
	}}
	wrong := 0
	for _, s := range scripts[:9] {
		if s.try(bare) != nil {
			wrong++
		}
	}
	if wrong < 3 {
		t.Errorf("running a command once gets all but %d of the first scripts right", wrong)
	}
}
