package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"outlast/abi"
	"outlast/abi/conformance"
	"outlast/abi/transcripts"
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

	transcriptsFile = "../../abi/transcripts/transcripts.jsonl.gz"
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

// The transcripts are what the plugin's code answers to the cases: what other
// hosts replay must not be of another source.
func TestTranscripts(t *testing.T) {
	now, err := transcripts.Record(t.Context(), native{})
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		var file bytes.Buffer
		if err := transcripts.Write(&file, now); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(transcriptsFile, file.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file, err := os.Open(transcriptsFile)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	committed, err := transcripts.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(committed) != len(now) {
		t.Fatalf("%d exchanges are committed, there are %d now: go test ./plugin/guest -update", len(committed), len(now))
	}
	for i := range now {
		if !reflect.DeepEqual(committed[i], now[i]) {
			t.Fatalf("exchange %d, of %s, is not the committed one: go test ./plugin/guest -update", i+1, now[i].Case)
		}
	}
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

// An update of cases that want something wrong makes them what they were, names
// them, and leaves everything else alone.
func TestUpdateMakesCasesRight(t *testing.T) {
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS(casesFolder)); err != nil {
		t.Fatal(err)
	}
	spoilt := map[string]struct{ file, old, new string }{
		"chance-0":                   {"schedule.json", `"delay_us": 550000`, `"delay_us": 550001`},
		"limit-of-5s":                {"outages.json", `[0, 500000, 1500000, 3500000, 5000000]`, `[0, 500000]`},
		"five-hundredth-succeeds":    {"outages.json", `"continues": 1`, `"continues": 2`},
		"no-seed-no-chance":          {"schedule.json", `"field": "event.random"`, `"field": "event"`},
		"event-woken-without-a-wait": {"sequences.json", `"woken": "ready", "after_us": 0, "random": 0, "want_error": {`, `"woken": "ready", "after_us": 0, "random": 0, "want": {`},
	}
	for name, s := range spoilt {
		file := filepath.Join(folder, s.file)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		at := strings.Index(string(text), `"name": "`+name+`"`)
		if at < 0 || !strings.Contains(string(text[at:]), s.old) {
			t.Fatalf("%s has no %s", name, s.old)
		}
		wrong := string(text[:at]) + strings.Replace(string(text[at:]), s.old, s.new, 1)
		if err := os.WriteFile(file, []byte(wrong), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	changed, err := conformance.Update(t.Context(), native{}, folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range changed {
		if _, ok := spoilt[name]; !ok {
			t.Errorf("%s is said to be changed", name)
		}
	}
	if len(changed) != len(spoilt) {
		t.Errorf("%d cases were spoilt, %d changed: %v", len(spoilt), len(changed), changed)
	}
	for _, s := range spoilt {
		want, err := os.ReadFile(filepath.Join(casesFolder, s.file))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(folder, s.file))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(want) {
			t.Errorf("%s is not what it was", s.file)
		}
	}
}
