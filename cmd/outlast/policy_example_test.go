//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The first example of docs/policies.md is safe as it stands: its write is not
// repeated, its read is.
func TestTheExampleOfAPolicyIsSafe(t *testing.T) {
	page, err := os.ReadFile("../../docs/policies.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```json\n")
	example, _, found := strings.Cut(rest, "```")
	if !found || !strings.Contains(string(page), "outlast run --policy report-client.json --read -- report-client") {
		t.Fatal("the page has no such example any more")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"report-client.json": strings.Replace(example, `"90s"`, `"1s"`, 1),
		"report-client":      "#!/bin/sh\necho run >>$0.runs\necho 'connect: no route' >&2\nexit 7\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	tool := goBuild(t, filepath.Join(dir, "outlast"), ".")
	for _, flag := range []string{"--write", "--read"} {
		run := exec.Command(tool, "run", "-q", "--policy", dir+"/report-client.json", flag, "--", dir+"/report-client")
		if err := run.Run(); run.ProcessState == nil || run.ProcessState.ExitCode() != 7 {
			t.Fatalf("%s: %v", flag, err)
		}
		runs, _ := os.ReadFile(dir + "/report-client.runs")
		os.Remove(dir + "/report-client.runs")
		if n := strings.Count(string(runs), "\n"); flag == "--write" && n != 1 || flag == "--read" && n < 2 {
			t.Errorf("%s: %d runs", flag, n)
		}
	}
}
