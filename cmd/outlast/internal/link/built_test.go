package link

import (
	"bytes"
	"debug/buildinfo"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Programs for each system are told from others by their notes, as Go's own reader
// of them tells.
func TestBuiltFrom(t *testing.T) {
	const one, other = "outlast/plugin/stub", "outlast/plugin/kernel"
	for _, system := range []string{"linux", "darwin", "windows"} {
		program := filepath.Join(t.TempDir(), "program")
		build := exec.Command("go", "build", "-o", program, one)
		build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOARCH=amd64", "GOOS="+system)
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		info, err := buildinfo.ReadFile(program)
		if err != nil || info.Path != one {
			t.Fatalf("%v: %v", info, err)
		}
		if !builtFrom(program, one) || builtFrom(program, other) || builtFrom(program, strings.TrimSuffix(one, "b")) {
			t.Errorf("%s: taken for another program than it is", system)
		}
		if system == "linux" {
			testCut(t, program, one)
		}
	}
}

// testCut reads a program of which the end is missing.
func testCut(t *testing.T, program, mainPackage string) {
	whole, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{0, 10, 63, 64, 100, 1 << 12} {
		if err := os.WriteFile(program, whole[:size], 0o755); err != nil {
			t.Fatal(err)
		}
		if builtFrom(program, mainPackage) {
			t.Errorf("%d bytes are taken for the program", size)
		}
	}
}

func TestThisProgramIsNotTheTool(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if builtFrom(self, mainPackage) || builtFrom(filepath.Join(t.TempDir(), "none"), mainPackage) {
		t.Error("taken for the tool")
	}
}

func TestContainsAcrossReads(t *testing.T) {
	want := []byte("needle")
	for at := (64 << 10) - 10; at < (64<<10)+10; at++ {
		text := bytes.Repeat([]byte{'-'}, 200<<10)
		copy(text[at:], want)
		if !contains(bytes.NewReader(text), want) {
			t.Errorf("not found at %d", at)
		}
	}
	if contains(bytes.NewReader(make([]byte, 200<<10)), want) {
		t.Error("found where it is not")
	}
}
