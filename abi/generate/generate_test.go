package main

import (
	"bytes"
	"os"
	"testing"
)

// What is committed is what the messages give.
func TestGenerated(t *testing.T) {
	files, err := generated("../..")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(name)
		if err != nil {
			t.Error(err)
		} else if !bytes.Equal(got, want) {
			t.Errorf("%s is not what the messages give: go run ./abi/generate", name)
		}
	}
}
