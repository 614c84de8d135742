//go:build unix

package process

import (
	"bytes"
	"errors"
	"os"
	"syscall"
	"testing"
)

func TestFailedAttemptsOutputIsNotShown(t *testing.T) {
	var out, errs bytes.Buffer
	c := command(t, "say", `{"rows":`, "Error: it broke", "1")
	c.Stdout, c.Stderr = &out, &errs
	e, err := c.Attempt(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if out.Len()+errs.Len() > 0 {
		t.Errorf("before Commit: %q, %q", &out, &errs)
	}
	e.Discard()
	if err := e.Commit(); err != nil || out.Len()+errs.Len() > 0 {
		t.Errorf("after Discard: %v, %q, %q", err, &out, &errs)
	}
	if e.Result.Stderr.Head != "Error: it broke" {
		t.Errorf("the result lost its text: %+v", e.Result.Stderr)
	}

	if e, err = c.Attempt(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second has nothing left to write
		if err := e.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	if out.String() != `{"rows":` || errs.String() != "Error: it broke" {
		t.Errorf("after Commit: %q, %q", &out, &errs)
	}
}

func TestHeldOutputForAReaderWhoIsGone(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	defer w.Close()
	c := command(t, "say", "short", "", "0")
	c.Stdout = w
	e, err := c.Attempt(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Commit(); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("Commit: %v", err)
	}
}

func TestNothingIsStreamedToNowhere(t *testing.T) {
	e, err := command(t, "noise", "200000", "1").Attempt(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if e.Result.Streamed || e.Commit() != nil {
		t.Error("output without a writer counts as shown")
	}
}
