//go:build unix

// Package link tests a link to the tool as a user has it: the real tool, on a
// PATH with a stand-in for omnigraph, real processes and real sockets.
package link

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"outlast/tests/omnigraph/life"
)

// patience is when a test gives up. No speed is asserted.
const patience = 60 * time.Second

// built is where TestMain has put outlast and the stand-in.
var built string

func TestMain(m *testing.M) { os.Exit(life.Main(m, &built)) }

// house is a folder with link/, other/ and real/ on PATH in this order. A link
// named omnigraph is in the first, the stand-in of that name in the last.
type house struct {
	t    *testing.T
	root string
	env  []string
}

func newHouse(t *testing.T) *house { return newHouseOf(t, "0.10") }

// newHouseOf has omnigraph of this release.
func newHouseOf(t *testing.T, release string) *house {
	t.Helper()
	h := &house{t: t, root: t.TempDir()}
	for _, dir := range []string{"link", "other", "real", "home"} {
		h.must(os.Mkdir(h.at(dir), 0o700))
	}
	h.must(os.Link(filepath.Join(built, "omnigraph"), h.at("real/omnigraph")))
	h.must(os.Symlink(filepath.Join(built, "outlast"), h.at("link/omnigraph")))
	h.env = []string{
		"PATH=" + h.at("link") + ":" + h.at("other") + ":" + h.at("real") + ":" + os.Getenv("PATH"),
		"HOME=" + h.at("home"), "STANDIN_LOG=" + h.at("log"), "STANDIN_RELEASE=" + release,
	}
	return h
}

func (h *house) at(path string) string { return filepath.Join(h.root, path) }

func (h *house) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// script puts a program on PATH.
func (h *house) script(path, text string) {
	h.t.Helper()
	h.must(os.WriteFile(h.at(path), []byte("#!/bin/sh\n"+text+"\n"), 0o755))
}

// end is how a command ended.
type end struct {
	Stdout, Stderr string
	Code           int
}

func (h *house) run(env []string, argv ...string) end {
	h.t.Helper()
	e, _ := h.runWithPID(env, argv...)
	return e
}

// runWithPID runs a command, which is looked up on the house's PATH.
func (h *house) runWithPID(env []string, argv ...string) (end, int) {
	h.t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(h.t.Context(), "/bin/sh", append([]string{"-c", `exec "$@"`, "sh"}, argv...)...)
	cmd.Env, cmd.Dir = append(append([]string{}, h.env...), env...), h.at("home")
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	timer := time.AfterFunc(patience, func() { cmd.Process.Kill() })
	defer timer.Stop()
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		h.t.Fatal(err)
	}
	return end{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}, cmd.Process.Pid
}

// call is one run of the stand-in.
type call struct {
	Args      []string
	PID, PPID int
	Locked    bool
	Argv0     string
}

// afterCalls does something once the stand-in has been run so often.
func (h *house) afterCalls(n int, do func()) {
	var done sync.WaitGroup
	done.Go(func() {
		for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
			if text, err := os.ReadFile(h.at("log")); err == nil && bytes.Count(text, []byte("\n")) >= n {
				break
			}
		}
		do()
	})
	h.t.Cleanup(done.Wait)
}

// calls are the stand-in's runs so far, which are then forgotten.
func (h *house) calls() (all []call) {
	h.t.Helper()
	text, err := os.ReadFile(h.at("log"))
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		var c call
		h.must(json.Unmarshal([]byte(line), &c))
		all = append(all, c)
	}
	h.must(os.Remove(h.at("log")))
	return all
}
