package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// What a wrapper costs a command that succeeds: the command itself, a Go
// program that only runs it, Debian's retry where it is installed, and outlast.
// Compare the figures of one run with each other.
func BenchmarkWrapped(b *testing.B) {
	dir := b.TempDir()
	outlast := filepath.Join(dir, "outlast")
	if out, err := exec.Command("../../build.sh", "binary", outlast).CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
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

// goBuild builds a program and installs it: a copy lies in
// larger pieces in the page cache than what the linker writes, and such a
// program as outlast starts a millisecond sooner from it (measured on Linux).
func goBuild(b testing.TB, path, pkg string) string {
	b.Helper()
	linked := path + ".linked"
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-w", "-o", linked, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	program, err := os.ReadFile(linked)
	if err == nil {
		err = os.WriteFile(path, program, 0o755)
	}
	if err != nil {
		b.Fatal(err)
	}
	return path
}
