//go:build unix

package record

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"outlast/host"
)

func fifo(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAPipeThatNobodyReads(t *testing.T) {
	path := fifo(t)
	for name, o := range map[string]Options{"--events": {Events: path}, "--report": {Report: path}} {
		if _, err := Open(o); err == nil || err.Error() != name+": "+path+" is a pipe or socket that nobody reads" {
			t.Errorf("%v", err)
		}
	}
}

func TestAPipeWithAReader(t *testing.T) {
	events, report := fifo(t), fifo(t)
	var files []*os.File
	for _, path := range []string{events, report} {
		f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		files = append(files, f)
	}
	r, err := Open(Options{Policy: omnigraph(), Events: events, Report: report})
	if err != nil {
		t.Fatal(err)
	}
	r.Finish(End{ExitCode: 7})
	for i, want := range []string{`"event":"finished","exit_code":7`, `"exit_code": 7`} {
		if text, err := io.ReadAll(files[i]); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%v: %s", err, text)
		}
	}
	if info, err := os.Stat(report); err != nil || info.Mode().IsRegular() {
		t.Errorf("the pipe was replaced: %v, %v", err, info)
	}
}

// A reader that has gone, or that takes nothing, holds up nothing for long.
func TestAPipeThatTakesNothing(t *testing.T) {
	for _, goes := range []bool{true, false} {
		path := fifo(t)
		reader, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer reader.Close()
		var told []string
		r, err := Open(Options{Policy: omnigraph(), Events: path, Tell: func(f string, a ...any) { told = append(told, fmt.Sprintf(f, a...)) }})
		if err != nil {
			t.Fatal(err)
		}
		if goes {
			reader.Close()
		}
		done := make(chan struct{})
		go func() {
			for n := range 2000 { // far more than a pipe holds
				r.Observe(host.Waiting{Kind: "unavailable", Budget: "unavailable", Attempt: int64(n + 1)})
			}
			r.Finish(End{})
			close(done)
		}()
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			t.Fatal("it waits for the reader")
		}
		why := "are lost, since nobody took them"
		if goes {
			why = "no more events are written"
		}
		if len(told) != 1 || !strings.Contains(told[0], why) {
			t.Errorf("%q", told)
		}
	}
}

func TestTheReportGoesToStdoutToo(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	path := fmt.Sprintf("/dev/fd/%d", write.Fd())
	if _, err := os.Stat(path); err != nil {
		t.Skip(err)
	}
	r, err := Open(Options{Policy: omnigraph(), Report: path})
	if err != nil {
		t.Fatal(err)
	}
	r.Finish(End{})
	write.Close()
	if text, err := io.ReadAll(read); err != nil || !json.Valid(text) {
		t.Errorf("%v: %s", err, text)
	}
}
