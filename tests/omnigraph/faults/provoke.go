package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// Form is a verb and how it prints: human, json or jsonl.
type Form struct{ Command, Format string }

// Forms are those that the captures have, and two verbs that tell no outcome.
var Forms = []Form{
	{"query", "human"}, {"query", "json"}, {"query", "jsonl"},
	{"mutate", "human"}, {"mutate", "json"},
	{"load", "human"}, {"load", "json"},
}

// Read says whether the verb reads.
func (f Form) Read() bool { return f.Command == "query" }

// Command is a program to provoke: omnigraph, or what stands in for it.
type Command struct {
	Path     string
	Contract string // the release's, such as 0.13
	Release  string // what a stand-in is told to be, as 0.12-dev; the contract if empty
	Operands bool   // whether the verbs need their operands; a bare one takes flags only
}

// Shown is what one run printed, with the port and the graph of the captures.
type Shown struct {
	Stdout, Stderr string
	Exit           int  // -1: a signal ended it
	TimedOut       bool // it was still waiting after the patience
	Applied        int  // how often a write took effect
}

// Args is the command line for one fault.
func (c *Command) Args(form Form, fault *Fault, url string) []string {
	args := strings.Fields(form.Command)
	if c.Operands {
		args = append(args, map[string][]string{
			"query": {"everybody"}, "mutate": {"add", "--params", "{}"}, "load": {"--data", os.DevNull, "--mode", "merge"},
			"branch create": {"review"}, "branch delete": {"review"}, "branch merge": {"review"}, "schema apply": {"--yes"},
		}[form.Command]...)
	}
	args = append(args, "--server", url)
	if !fault.NoGraph && !strings.HasPrefix(form.Command, "cluster") {
		args = append(args, "--graph", "people")
	}
	if fault.IfCommit != "" {
		args = append(args, "--if-commit", fault.IfCommit)
	}
	switch form.Format {
	case "json":
		args = append(args, "--json")
	case "jsonl":
		args = append(args, "--format", "jsonl")
	}
	return args
}

// Provoke runs the command once against the fault.
func (f *Fault) Provoke(ctx context.Context, c *Command, form Form, patience time.Duration) (shown Shown, err error) {
	server, err := f.Start(c.Contract)
	if err != nil {
		return shown, err
	}
	defer server.Stop()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.Path, c.Args(form, f, server.URL)...)
	cmd.Env = environment(c, f)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return shown, err
	}
	asCaptured := strings.NewReplacer(server.URL, "http://127.0.0.1:8080")
	return Shown{
		Stdout: asCaptured.Replace(stdout.String()), Stderr: asCaptured.Replace(stderr.String()),
		Exit: cmd.ProcessState.ExitCode(), TimedOut: ctx.Err() != nil, Applied: server.Applied(),
	}, nil
}

// environment is this process's without what changes a report, a target or a proxy.
func environment(c *Command, f *Fault) (list []string) {
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if !slices.ContainsFunc([]string{"RUST_", "OMNIGRAPH_", "STANDIN_", "OUTLAST_"}, func(p string) bool { return strings.HasPrefix(name, p) }) &&
			!strings.HasSuffix(strings.ToUpper(name), "_PROXY") {
			list = append(list, variable)
		}
	}
	release := c.Release
	if release == "" {
		release = c.Contract
	}
	list = append(list, "NO_PROXY=*", "OMNIGRAPH_HOME="+os.DevNull, "STANDIN_RELEASE="+release)
	if f.Timeout != "" {
		list = append(list, "STANDIN_TIMEOUT="+f.Timeout, "RIG_TIMEOUT_MS="+strings.TrimSuffix(f.Timeout, "ms"))
	}
	return list
}

// Capture is a line of the captures' file.
type Capture struct {
	ID       string `json:"id"`
	Version  string `json:"version"`
	Command  string `json:"command"`
	Format   string `json:"format"`
	Scenario string `json:"scenario"`
	Exit     int    `json:"exit"`
	Stdout   string `json:"stdout"`
	Stderr   string `json:"stderr"`
}

// ReadCaptures reads the file.
func ReadCaptures(path string) (list []Capture, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		var c Capture
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		list = append(list, c)
	}
	return list, nil
}

// Same says whether a run printed what was captured, and exited so.
func (s *Shown) Same(c *Capture) bool {
	return s.Stdout == c.Stdout && s.Stderr == c.Stderr && s.Exit == c.Exit
}
