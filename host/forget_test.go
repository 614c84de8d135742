package host

import (
	"context"
	"strings"
	"testing"

	"outlast/abi"
)

// TestWaitForgetsWhatWasPrinted: in a wait a call keeps what an outcome would
// quote, and how the attempt ended, but none of its long texts.
func TestWaitForgetsWhatWasPrinted(t *testing.T) {
	code, status := int64(7), int64(503)
	long := abi.Text{Head: strings.Repeat("printed ", 4000)}
	for name, result := range map[string]abi.Result{
		"process":  {ExitCode: &code, Stdout: long, Stderr: long},
		"exchange": {HTTPStatus: &status, Message: long},
	} {
		p := &Plugin{source: embedded}
		d := p.driver(&Task{Attempt: func(context.Context, int64) (abi.Result, error) { return result, nil }})
		event, err := d.attempt(t.Context(), 1)
		if err != nil || len(event.Result.Stderr.Head)+len(event.Result.Message.Head) != len(long.Head) {
			t.Fatalf("%s: the policy is not told all: %v", name, err)
		}
		if _, err := d.wait(t.Context(), &abi.Action{Type: abi.Retry}); err != nil {
			t.Fatal(err)
		}
		kept := d.last.Stdout.Head + d.last.Stderr.Head + d.last.Message.Head
		if kept != d.lastError || len(kept) != abi.MaxErrorBytes || !strings.HasPrefix(long.Head, kept) {
			t.Errorf("%s: %d bytes are kept: %.40q", name, len(kept), kept)
		}
		if d.last.ExitCode != result.ExitCode || d.last.HTTPStatus != result.HTTPStatus {
			t.Errorf("%s: how it ended is not kept: %+v", name, d.last)
		}
	}
}
