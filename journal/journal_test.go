package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func open(t testing.TB, o Options) *Journal {
	t.Helper()
	j, err := Open(filepath.Join(t.TempDir(), "j"), o)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func given(t testing.TB, key string) Key {
	t.Helper()
	k, err := Given(key)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

var line = What{Argv: []string{"write", "1"}}

func begin(t testing.TB, j *Journal, k Key, what What) *Run {
	t.Helper()
	run, earlier, err := j.Begin(t.Context(), k, what)
	if err != nil || earlier != nil {
		t.Fatalf("%v, %+v", err, earlier)
	}
	return run
}

// What a rerun gets after a kill at any point of a run: the record is copied as
// it stands, since a kill takes away the lock and nothing else.
func TestAKillAtEachPoint(t *testing.T) {
	code := int64(7)
	type step func(*Run) error
	attempt := func(n int64) step { return func(r *Run) error { return r.Attempt(n) } }
	ended := func(n int64, none bool) step { return func(r *Run) error { return r.Ended(n, none, &code, "") } }
	finish := func(outcome string, none bool) step {
		return func(r *Run) error {
			return r.Finish(End{Outcome: outcome, EffectsNone: none, ExitCode: &code, Stdout: []byte("out")})
		}
	}
	for name, c := range map[string]struct {
		steps []step
		want  State
	}{
		"nothing begun":            {nil, NotApplied},
		"in an attempt":            {[]step{attempt(1)}, InDoubt},
		"attempt never sent":       {[]step{attempt(1), ended(1, true)}, NotApplied},
		"attempt of unknown end":   {[]step{attempt(1), ended(1, false)}, InDoubt},
		"unknown, then evidence":   {[]step{attempt(1), ended(1, false), ended(1, true)}, NotApplied},
		"in a second attempt":      {[]step{attempt(1), ended(1, true), attempt(2)}, InDoubt},
		"a first that is in doubt": {[]step{attempt(1), ended(1, false), attempt(2), ended(2, true)}, InDoubt},
		"ok":                       {[]step{attempt(1), finish("ok", false)}, Applied},
		"ok at last":               {[]step{attempt(1), ended(1, false), attempt(2), finish("ok", false)}, Applied},
		"failed, no effects":       {[]step{attempt(1), ended(1, false), finish("failed", true)}, NotApplied},
		"indeterminate":            {[]step{attempt(1), ended(1, false), finish("indeterminate", false)}, InDoubt},
		"evidence, then doubt":     {[]step{attempt(1), ended(1, true), finish("indeterminate", false)}, InDoubt},
	} {
		j := open(t, Options{})
		k := given(t, "k")
		r := begin(t, j, k, line)
		for _, step := range c.steps {
			if err := step(r); err != nil {
				t.Fatal(err)
			}
		}
		text, err := os.ReadFile(j.path(k.id))
		if err != nil {
			t.Fatal(err)
		}
		killed := open(t, Options{})
		if err := os.WriteFile(killed.path(k.id), text, 0o600); err != nil {
			t.Fatal(err)
		}
		run, earlier, err := killed.Begin(t.Context(), k, line)
		var doubt *InDoubtError
		got := NotApplied
		switch {
		case errors.As(err, &doubt):
			got = InDoubt
		case err != nil:
			t.Fatal(err)
		case earlier != nil:
			got = Applied
			if string(earlier.Stdout) != "out" || *earlier.ExitCode != code {
				t.Errorf("%s: %+v", name, earlier)
			}
		default:
			run.Close()
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s\n%s", name, got, c.want, text)
		}
		r.Close()
	}
}

// A power loss may tear what was not fsynced: at any byte, what the whole lines
// say is what counts, and the record can be gone on with.
func TestTornAtAnyByte(t *testing.T) {
	j := open(t, Options{})
	k := given(t, "k")
	r := begin(t, j, k, line)
	code := int64(1)
	for _, err := range []error{r.Attempt(1), r.Ended(1, true, &code, ""), r.Attempt(2), r.Finish(End{Outcome: "ok"})} {
		if err != nil {
			t.Fatal(err)
		}
	}
	whole, err := os.ReadFile(j.path(k.id))
	if err != nil {
		t.Fatal(err)
	}
	// By how many lines are whole: nothing, a run, attempt 1, its end, attempt 2, ok.
	want := []State{NotApplied, NotApplied, InDoubt, NotApplied, InDoubt, Applied}
	for cut := range len(whole) + 1 {
		for _, tail := range []string{"", strings.Repeat("\x00", 100)} {
			torn := append(bytes.Clone(whole[:cut]), tail...)
			at := open(t, Options{NoSync: true})
			if err := os.WriteFile(at.path(k.id), torn, 0o600); err != nil {
				t.Fatal(err)
			}
			state := want[bytes.Count(whole[:cut], []byte("\n"))]
			run, earlier, err := at.Begin(t.Context(), k, line)
			switch {
			case state == InDoubt && err == nil, state == Applied && earlier == nil, state == NotApplied && run == nil:
				t.Fatalf("cut at %d of %q: %v, want %s", cut, torn, err, state)
			case state == InDoubt:
				if e, err := at.Settle("k", true); err != nil || e.State != Applied {
					t.Fatalf("cut at %d: %v", cut, err)
				}
			case run != nil:
				if err := errors.Join(run.Attempt(1), run.Finish(End{Outcome: "ok"})); err != nil {
					t.Fatal(err)
				}
				if e, err := at.Show("k"); err != nil || e.State != Applied {
					t.Fatalf("cut at %d: %+v, %v", cut, e, err)
				}
			}
		}
	}
}

// What is damaged, of a newer format or no record at all is a doubt, which a
// person can settle; it is never taken for nothing.
func TestDamageIsADoubt(t *testing.T) {
	run := `{"record":"run","v":1,"time":"2026-01-02T03:04:05Z","key":"k"}` + "\n"
	for name, text := range map[string]string{
		"no JSON":       "nonsense\n",
		"in the middle": run + "nonsense\n" + `{"record":"outcome","outcome":"ok"}` + "\n",
		"zeros":         run + strings.Repeat("\x00", 10) + "\n",
		"newer":         strings.Replace(run, `"v":1`, `"v":2`, 1),
		"no version":    strings.Replace(run, `"v":1,`, ``, 1),
		"unknown kind":  run + `{"record":"wish"}` + "\n",
		"no run":        `{"record":"attempt","attempt":1}` + "\n",
		"bad output":    run + `{"record":"outcome","outcome":"ok","stdout":{"base64":"?"}}` + "\n",
		"no verdict":    run + `{"record":"settled"}` + "\n",
		"too long":      run + strings.Repeat(`{"record":"attempt","attempt":1}`+"\n", maxFile/32),
	} {
		j, k := open(t, Options{}), given(t, "k")
		if err := os.WriteFile(j.path(k.id), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if run, earlier, err := j.Begin(t.Context(), k, line); err == nil {
			t.Errorf("%s: %v %v", name, run, earlier)
		}
		if name == "too long" {
			continue
		}
		if _, err := j.Settle("k", false); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		begin(t, j, k, line).Close()
	}
}

// However many runs of one key begin at once, one applies it, and all others
// are told so.
func TestManyAtOnce(t *testing.T) {
	j, k := open(t, Options{}), given(t, "k")
	var applied, answered atomic.Int64
	var running sync.WaitGroup
	for range 16 {
		running.Go(func() {
			run, earlier, err := j.Begin(t.Context(), k, line)
			switch {
			case err != nil:
				t.Error(err)
			case earlier != nil:
				answered.Add(1)
			default:
				applied.Add(1)
				time.Sleep(5 * time.Millisecond)
				if err := errors.Join(run.Attempt(1), run.Finish(End{Outcome: "ok"})); err != nil {
					t.Error(err)
				}
			}
		})
	}
	running.Wait()
	if applied.Load() != 1 || answered.Load() != 15 {
		t.Errorf("%d applied, %d answered", applied.Load(), answered.Load())
	}
	made := Made(line.Argv, "/", "") // whose file goes away each time
	for range 8 {
		running.Go(func() {
			run, _, err := j.Begin(t.Context(), made, line)
			if err == nil {
				err = errors.Join(run.Attempt(1), run.Finish(End{Outcome: "ok"}))
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	running.Wait()
	if e, err := j.Show(made.ID()); !errors.Is(err, ErrNoRecord) {
		t.Errorf("%+v, %v", e, err)
	}
}

func TestAWaitEndsWithItsContext(t *testing.T) {
	j, k := open(t, Options{}), given(t, "k")
	r := begin(t, j, k, line)
	defer r.Close()
	if e, err := j.Show("k"); err != nil || e.State != UnderWay {
		t.Errorf("%+v, %v", e, err)
	}
	if _, err := j.Settle("k", true); err == nil || !strings.Contains(err.Error(), "under way") {
		t.Error(err)
	}
	enough := errors.New("enough")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, enough)
	defer cancel()
	told := 0
	_, _, err := j.Begin(ctx, k, What{Argv: line.Argv, Waiting: func() { told++ }})
	if !errors.Is(err, enough) || told != 1 {
		t.Errorf("%v, told %d times", err, told)
	}
}

// A full journal lets old settled records go, and refuses where there is none.
func TestFull(t *testing.T) {
	j := open(t, Options{MaxRecords: 4, Keep: time.Hour})
	for i := range 3 {
		r := begin(t, j, given(t, fmt.Sprint("doubt", i)), line)
		if err := r.Attempt(1); err != nil {
			t.Fatal(err)
		}
		r.Close()
	}
	finish := func(key string) {
		t.Helper()
		r := begin(t, j, given(t, key), line)
		if err := errors.Join(r.Attempt(1), r.Finish(End{Outcome: "ok"})); err != nil {
			t.Fatal(err)
		}
	}
	finish("settled")
	var full *FullError
	if _, _, err := j.Begin(t.Context(), given(t, "new"), line); !errors.As(err, &full) {
		t.Errorf("a journal whose records are young or in doubt takes another: %v", err)
	}
	j.options.Keep = time.Nanosecond
	finish("new")
	if _, err := j.Show("settled"); !errors.Is(err, ErrNoRecord) {
		t.Error(err)
	}
	if removed, err := j.Prune(0); err != nil || len(removed) != 1 {
		t.Errorf("%v, %v", removed, err)
	}
	entries, err := j.List()
	if err != nil || len(entries) != 3 {
		t.Fatalf("%d left, %v", len(entries), err)
	}
	for _, e := range entries {
		if e.State != InDoubt {
			t.Errorf("%+v", e)
		}
	}
}

// The time of day decides nothing: with records from any time the same runs,
// and none in doubt is removed.
func TestAMovedClock(t *testing.T) {
	for _, at := range []string{"1970-01-01T00:00:00Z", "2999-01-01T00:00:00Z", "nonsense", ""} {
		for state, records := range map[State]string{
			InDoubt:    `{"record":"attempt","attempt":1,"time":"AT"}`,
			Applied:    `{"record":"outcome","outcome":"ok","time":"AT"}`,
			NotApplied: `{"record":"outcome","outcome":"failed","effects":"none","time":"AT"}`,
		} {
			j, k := open(t, Options{}), given(t, "k")
			text := strings.ReplaceAll(`{"record":"run","v":1,"key":"k","time":"AT","boot":"elsewhere"}`+"\n"+records+"\n", "AT", at)
			if err := os.WriteFile(j.path(k.id), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			run, earlier, err := j.Begin(t.Context(), k, line)
			if (err != nil) != (state == InDoubt) || (earlier != nil) != (state == Applied) || (run != nil) != (state == NotApplied) {
				t.Errorf("%s at %q: %v %v %v", state, at, run, earlier, err)
			}
			if run != nil {
				run.Close()
			}
			if state == InDoubt {
				if removed, err := j.Prune(0); err != nil || len(removed) > 0 {
					t.Errorf("%v, %v", removed, err)
				}
			}
		}
	}
}

func TestSecretsAndBounds(t *testing.T) {
	secret := strings.Repeat("s3cret", 4)
	j := open(t, Options{Secrets: []string{"", secret}})
	k := given(t, "k")
	what := What{Argv: []string{"write", "-H", "Authorization: " + secret, strings.Repeat("x", 2*maxWhat)}}
	r := begin(t, j, k, what)
	long := append(bytes.Repeat([]byte("y"), MaxOutput-10), secret...)
	if err := errors.Join(r.Attempt(1), r.Finish(End{Outcome: "ok", Stdout: long, Stderr: []byte("\xff" + secret)})); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(j.path(k.id))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(text, []byte("s3cre")) || len(text) > MaxOutput+4*maxWhat {
		t.Errorf("%d bytes, %.300q", len(text), text)
	}
	e, err := j.Show("k")
	if err != nil || !e.Cut || string(e.Stderr) != "\xff[redacted]" {
		t.Errorf("%v, %q", err, e.Stderr)
	}
}

// Only the same write has the same key.
func TestMadeKeys(t *testing.T) {
	seen := map[string]string{}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[ab/ ]{0,3}`)
		argv, inputs := rapid.SliceOfN(text, 0, 3).Draw(t, "argv"), rapid.SliceOfN(text, 0, 2).Draw(t, "inputs")
		dir, target := text.Draw(t, "dir"), text.Draw(t, "target")
		what := fmt.Sprintf("%q %q %q %q", argv, dir, target, inputs)
		id := Made(argv, dir, target, inputs...).ID()
		if other, ok := seen[id]; ok && other != what {
			t.Fatalf("%s and %s have the same key", what, other)
		}
		seen[id] = what
	})
	for _, key := range []string{"", strings.Repeat("x", MaxKey+1), "a\nb", "\x1b[2J", "\xff"} {
		if _, err := Given(key); err == nil {
			t.Errorf("%q is a key", key)
		}
	}
}

func TestTheSelfTestFindsLocksThatExcludeNobody(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := selfTest(path); err == nil { // as if the lock had been granted beside another
		t.Error("a lock that two can have is taken for one")
	}
}
