package host_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"outlast/abi"
	"outlast/followed"
	"outlast/host"
	"outlast/host/virtual"
)

// release puts a policy into a folder: network's rules with another window and
// first delay.
func release(t *testing.T, dir string, serial int64, maxWait, base string) {
	t.Helper()
	network, _ := host.BuiltIn("network")
	document := strings.Replace(network.Document(), `"max_wait":"150s"`, fmt.Sprintf("%q:%q", "max_wait", maxWait), 1)
	document = strings.Replace(document, `"base":"500ms"`, fmt.Sprintf("%q:%q", "base", base), 1)
	e := followed.Envelope{Name: "network", Serial: serial, Time: time.Unix(serial, 0), Document: document}
	f := followed.File{Text: string(e.Encode()), Source: "https://policies.example/network.json", Pulled: time.Unix(1_800_000_000, 0)}
	if err := f.Write(dir, "network"); err != nil {
		t.Fatal(err)
	}
}

func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A folder that is empty, is filled, gets a new policy, an older one, a faulty one,
// and goes away: the last good one is in force all the time.
func TestFollow(t *testing.T) {
	dir := folder(t)
	f, err := host.Follow(dir, "network")
	if err != nil {
		t.Fatal(err)
	}
	inForce := func(what string, serial int64, why string) {
		t.Helper()
		p, err := f.Policy()
		if got := p.Release(); (got == nil) != (serial == 0) || got != nil && got.Serial != serial {
			t.Errorf("%s: %+v is in force, and not serial %d", what, got, serial)
		}
		if (err == nil) != (why == "") || err != nil && !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, and not %q", what, err, why)
		}
	}
	inForce("nothing", 0, "no such file")
	release(t, dir, 3, "150s", "500ms")
	inForce("the first", 3, "")
	release(t, dir, 4, "200s", "1s")
	inForce("the next", 4, "")
	if p, _ := f.Policy(); p.Release().Source != "https://policies.example/network.json" || p.Release().Since.Unix() != 1_800_000_000 || !strings.Contains(p.Document(), "200s") {
		t.Errorf("%+v", p.Release())
	}
	release(t, dir, 3, "150s", "500ms")
	inForce("an older one", 4, "serial 3 is lower than 4")
	if err := os.WriteFile(followed.Path(dir, "network"), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	inForce("a faulty one", 4, "version: is missing")
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	inForce("the folder is gone", 4, "no such file")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	release(t, dir, 5, "150s", "500ms")
	inForce("it is back", 5, "")
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	release(t, dir, 6, "150s", "500ms")
	inForce("others may write", 5, "can be written by others")
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	inForce("no longer", 6, "")
}

func TestFollowNeedsAPolicy(t *testing.T) {
	_, err := host.Follow(t.TempDir()+"/none", "orders")
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "no built-in policy called orders") {
		t.Error(err)
	}
}

// followedCall is a call through an outage, on a clock of its own, by whatever
// is in force. hold is called before its second attempt.
type followedCall struct {
	outcome *abi.Outcome
	err     error
	digest  string // of the policy that it says it goes by
	starts  []time.Duration
}

func (c *followedCall) run(run run, f *host.Followed, seed int64, hold func()) {
	clock := &virtual.Clock{}
	c.outcome, c.err = run(compiled, context.Background(), &host.Task{
		Follow: f, Clock: clock,
		Call: host.Call{Label: "orders", Remote: true, Seed: &seed},
		Observe: func(e host.Event) {
			if in, is := e.(host.PolicyInForce); is && in.Why == nil {
				c.digest = in.Policy.Digest()
			}
		},
		Attempt: func(_ context.Context, n int64) (abi.Result, error) {
			c.starts = append(c.starts, clock.Now())
			if n == 2 {
				hold()
			}
			if clock.Now() >= time.Minute {
				return abi.Result{HTTPStatus: new(int64(200))}, nil
			}
			return abi.Result{Failure: abi.FailureUnconnected, Sent: abi.SentNo, OnlyRequest: true}, nil
		},
	})
}

// A policy that is changed under a thousand waiting calls: each of them goes on by
// its own, to the microsecond as if nothing had happened, and those that begin
// afterwards go by the new one. None is lost, and none mixes the two.
func TestAPolicyChangesUnderWaitingCalls(t *testing.T) {
	const calls, seeds = 1000, 10
	dir := folder(t)
	release(t, dir, 1, "150s", "500ms")
	f, err := host.Follow(dir, "network")
	if err != nil {
		t.Fatal(err)
	}
	alone := func() (list [seeds]followedCall) { // by what is in force, and undisturbed
		for seed := range list {
			list[seed].run(runs["Run"], f, int64(seed), func() {})
		}
		return list
	}
	before := alone()

	var waiting, all sync.WaitGroup
	changed := make(chan struct{})
	list := make([]followedCall, calls)
	waiting.Add(calls)
	for i := range list {
		run := runs["Run"]
		if i%100 == 0 { // each of these has an instance of its own
			run = runs["RunInPlugin"]
		}
		all.Go(func() {
			list[i].run(run, f, int64(i%seeds), func() { waiting.Done(); <-changed })
		})
	}
	waiting.Wait()
	release(t, dir, 2, "300s", "3s")
	after := alone()
	if err := os.RemoveAll(dir); err != nil { // and then the folder goes away
		t.Fatal(err)
	}
	gone := alone()
	close(changed)
	all.Wait()

	for seed := range seeds {
		switch {
		case before[seed].digest == after[seed].digest || slices.Equal(before[seed].starts, after[seed].starts):
			t.Fatal("both policies go the same way, so that nothing is shown")
		case !slices.Equal(gone[seed].starts, after[seed].starts):
			t.Error("without the folder, another policy counts than the last good one")
		}
	}
	for i := range list {
		c, own := &list[i], &before[i%seeds]
		if c.err != nil || c.outcome.Type != abi.OutcomeOK {
			t.Fatalf("call %d is lost: %v", i, c.err)
		}
		if c.digest != own.digest || !slices.Equal(c.starts, own.starts) {
			t.Fatalf("call %d goes by %s at %v, and its own policy says %v", i, c.digest, c.starts, own.starts)
		}
	}
}
