package main

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"outlast/process/atstart"
)

// built is a program for a system, this package's own.
func built(t *testing.T, system, arch, ldflags string) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	build := exec.Command("go", "build", "-ldflags="+ldflags, "-o", path, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	program, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return program
}

func TestTwoSymbolsAreLeft(t *testing.T) {
	for _, arch := range []string{"amd64", "arm64"} {
		program := built(t, "linux", arch, "-w")
		trimmed, err := trim(bytes.Clone(program), atstart.ActionsSymbol, atstart.MaskSymbol)
		if err != nil {
			t.Fatal(err)
		}
		before, after := symbolsOf(t, program), symbolsOf(t, trimmed)
		if len(after) != 2 {
			t.Errorf("%s: %d symbols", arch, len(after))
		}
		for name, value := range after {
			if before[name] != value {
				t.Errorf("%s: %s is %q, and was %q", arch, name, value, before[name])
			}
		}
		stripped := len(built(t, "linux", arch, "-s -w"))
		if more := len(trimmed) - stripped; more > 1<<10 {
			t.Errorf("%s: %d bytes more than without any", arch, more)
		}
	}
}

// symbolsOf are a program's symbols: their size, value and section's name.
func symbolsOf(t *testing.T, program []byte) map[string]string {
	t.Helper()
	file, err := elf.NewFile(bytes.NewReader(program))
	if err != nil {
		t.Fatal(err)
	}
	all, err := file.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]string{}
	for _, s := range all {
		section := s.Section.String()
		if int(s.Section) < len(file.Sections) {
			section = file.Sections[s.Section].Name
		}
		named[s.Name] = fmt.Sprintf("%d bytes at %#x, %s, %#x", s.Size, s.Value, section, s.Info)
	}
	return named
}

// A program that has lost its symbols is known by an error, and stays as it was.
func TestOthersAreRefused(t *testing.T) {
	for _, program := range [][]byte{nil, []byte("#!/bin/sh\n"), built(t, "linux", "amd64", "-s -w")} {
		path := filepath.Join(t.TempDir(), "program")
		if err := os.WriteFile(path, program, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := trimFile(path); err == nil {
			t.Error("no error")
		}
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, program) {
			t.Errorf("it was changed: %v", err)
		}
	}
	if _, err := trim(built(t, "linux", "amd64", "-w"), "runtime.noSuchVariable"); err == nil {
		t.Error("a symbol that is not there is kept")
	}
}
