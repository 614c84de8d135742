package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

func TestTheCommittedModuleIsTheSource(t *testing.T) {
	committed, err := os.ReadFile("../kernel.wasm")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(assemble(source), committed) {
		t.Error("it is another; run ./build.sh plugin")
	}
}

// What is not known is never left out, or taken for something else.
func TestWhatIsNotKnown(t *testing.T) {
	for text, want := range map[string]string{
		"(module":                    "every bracket closed",
		"(module (table 1 funcref))": "unknown: ",
		"(module (func $f (i32.popcnt (i32.const 1))))": "unknown: ",
		"(module (func $f (local.get $x)))":             "names nothing that there is",
		"(module (func $f (loop $a) (br $a)))":          "names nothing that there is",
		"(module (func $f (i32.const one)))":            "no number",
	} {
		func() {
			defer func() {
				if said, _ := recover().(string); !strings.Contains(said, want) {
					t.Errorf("%s: %q, want %s", text, said, want)
				}
			}()
			assemble(text)
		}()
	}
}

// The numbers' encodings, by the examples of LEB128's definition and its edges.
func TestNumbers(t *testing.T) {
	for n, want := range map[int][]byte{0: {0}, 127: {0x7f}, 128: {0x80, 1}, 624485: {0xe5, 0x8e, 0x26}} {
		if got := unsigned(n); !bytes.Equal(got, want) {
			t.Errorf("unsigned(%d) = % x, want % x", n, got, want)
		}
	}
	for n, want := range map[int][]byte{
		0: {0}, 63: {0x3f}, 64: {0xc0, 0}, -1: {0x7f}, -64: {0x40}, -65: {0xbf, 0x7f}, -123456: {0xc0, 0xbb, 0x78},
	} {
		if got := signed(n); !bytes.Equal(got, want) {
			t.Errorf("signed(%d) = % x, want % x", n, got, want)
		}
	}
}
