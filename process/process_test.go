//go:build unix

package process

import (
	"context"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

func TestCancelReachesAGrandchildWhenTheChildIsGone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	ctx, cancel := context.WithCancel(t.Context())
	c := command(t, "leave", file)
	c.KillAfter = 100 * time.Millisecond
	p, err := c.start()
	if err != nil {
		t.Fatal(err)
	}
	<-p.exited
	cancel()
	p.settle(ctx, byItself, c)
	noProcess(t, pidIn(t, file))
}

func TestTimeLimit(t *testing.T) {
	c := command(t, "wait", filepath.Join(t.TempDir(), "never"), "partial")
	c.Timeout = 400 * time.Millisecond
	e, stdout, _ := attempt(t, c)
	if !e.Result.TimedOut || e.Result.Signal != "SIGTERM" || e.Cancelled || e.Result.OK() {
		t.Errorf("%+v", e.Result)
	}
	if stdout != "partial" && stdout != "" { // it may have had no time to say it
		t.Errorf("stdout %q", stdout)
	}

	c = command(t, "say", "", "", "0")
	c.Timeout = time.Minute
	if e, _, _ := attempt(t, c); e.Result.TimedOut {
		t.Error("an attempt within its limit timed out")
	}
}

// A reader who takes nothing does not keep back an attempt that is cancelled.
func TestCancelDoesNotWaitForTheReader(t *testing.T) {
	out := &gated{reached: make(chan struct{}), open: make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	var opened sync.WaitGroup
	opened.Go(func() { <-out.reached; cancel() })
	c := command(t, "yes")
	c.Stdout = out
	e, err := c.Attempt(ctx)
	if err != nil {
		t.Fatal(err)
	}
	opened.Wait()
	if !e.Cancelled || !e.Result.Streamed || e.Result.Signal == "" {
		t.Errorf("%+v", e.Result)
	}
	if err := e.Commit(); err != nil {
		t.Errorf("Commit: %v", err)
	}
	close(out.open) // lets the writing goroutine end
}

// The child is long gone, and what it wrote last is still in the pipe.
func TestSlowReaderLosesNothing(t *testing.T) {
	finished := filepath.Join(t.TempDir(), "finished")
	out := &gated{reached: make(chan struct{}), open: make(chan struct{})}
	c := command(t, "progress", "131072", finished) // more than is held, the rest fits the pipe and the buffer
	c.Stdout = out
	go func() {
		waitForFile(finished)
		time.Sleep(3 * leftoverWait)
		close(out.open)
	}()
	if _, err := c.Attempt(t.Context()); err != nil {
		t.Fatal(err)
	}
	if out.Len() != 131072 {
		t.Errorf("%d bytes of 131072", out.Len())
	}
}
