package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"

	"outlast/abi"
	"outlast/abi/conformance"
)

// native is the plugin's code without WebAssembly around it.
type native struct{}

func (native) Call(ctx context.Context, export string, input []byte, h conformance.Host) ([]byte, error) {
	exports := map[string]func(string) ([]byte, error){
		abi.ExportDescribe: describe,
		abi.ExportCheck:    check,
		abi.ExportDecide:   decide,
		abi.ExportRun: func(input string) ([]byte, error) {
			return run(input, nativeHost{ctx, h})
		},
	}
	function, ok := exports[export]
	if !ok {
		return nil, fmt.Errorf("there is no export %q", export)
	}
	return enveloped(function, string(input)), nil
}

// nativeHost is a conformance host as the guest's code calls it.
type nativeHost struct {
	ctx  context.Context
	host conformance.Host
}

func (n nativeHost) now() string                  { return string(n.host.Now(n.ctx)) }
func (n nativeHost) sleep(action []byte) string   { return string(n.host.Sleep(n.ctx, action)) }
func (n nativeHost) attempt(action []byte) string { return string(n.host.Attempt(n.ctx, action)) }

// update has the tests of this file write what the plugin answers into the
// cases and into the page, and fail: a person has to look at what changed.
var update = flag.Bool("update", false, "write what the plugin answers into abi/vectors and abi/ABI.md")

const (
	casesFolder = "../../abi/vectors"
	pageFile    = "../../abi/ABI.md"
)

// TestConformance runs the contract's cases through the plugin's code.
func TestConformance(t *testing.T) {
	if *update {
		changed, err := conformance.Update(t.Context(), native{}, casesFolder)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range changed {
			t.Errorf("%s: it wants something else now; look at the difference", name)
		}
		return
	}
	conformance.Run(t, native{})
}

// TestPage gives the plugin what the contract's page sends, and compares every
// byte of what the page says that it answers.
func TestPage(t *testing.T) {
	page, err := os.ReadFile(pageFile)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		updated, err := conformance.UpdatePage(t.Context(), native{}, page)
		if err != nil {
			t.Fatal(err)
		}
		if string(updated) != string(page) {
			t.Error("the page has other bytes now; look at the difference")
		}
		if err := os.WriteFile(pageFile, updated, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, problem := range conformance.CheckPage(t.Context(), native{}, page) {
		t.Error(problem)
	}
}
