package main

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// What a wrapper costs a command that succeeds: the command itself, a Go
// program that only runs it, Debian's retry where it is installed, and outlast.
// Compare the figures of one run with each other.
func BenchmarkWrapped(b *testing.B) {
	dir := b.TempDir()
	outlast := goBuild(b, filepath.Join(dir, "outlast"), ".")
	execOnly := goBuild(b, filepath.Join(dir, "execonly"), "./testdata/execonly")
	for _, bench := range []struct {
		name string
		argv []string
	}{
		{"bare", []string{"true"}},
		{"a Go program that only execs", []string{execOnly, "true"}},
		{"retry", []string{"retry", "--", "true"}},
		{"outlast", []string{outlast, "run", "--policy", "omnigraph", "--read", "--", "true"}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			if _, err := exec.LookPath(bench.argv[0]); err != nil {
				b.Skip(err)
			}
			for b.Loop() {
				if err := exec.Command(bench.argv[0], bench.argv[1:]...).Run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func goBuild(b testing.TB, path, pkg string) string {
	b.Helper()
	if out, err := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", path, pkg).CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return path
}
