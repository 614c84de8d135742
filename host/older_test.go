package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"outlast/abi"
	"outlast/host"
	"outlast/host/virtual"
)

// forgotten is what each minor version of the contract brought, as replacements
// in its source: with them a plugin does not know it.
var forgotten = map[int][]struct{ file, is, was string }{
	3: {
		{"result.go", `"failure"`, `"?3"`}, {"result.go", `"only_request"`, `"?4"`}, {"call.go", `"refuses_before_acting"`, `"?5"`},
	},
	2: {
		{"event.go", "string(Down), string(NotReady), string(Repaired)", "string(Down), string(Repaired)"},
		{"event.go", "string(WaitDown), string(WaitNotReady), string(WaitCancelled)", "string(WaitDown), string(WaitCancelled)"},
		{"call.go", `"one_request"`, `"?1"`}, {"call.go", `"repeatable"`, `"?2"`},
	},
	1: {
		{"event.go", "string(Woken), string(Down), string(Repaired)", "string(Woken), string(Repaired)"},
		{"event.go", "string(WaitWoken), string(WaitDown), string(WaitCancelled)", "string(WaitWoken), string(WaitCancelled)"},
	},
}

// older is a plugin of an earlier minor version of the contract: this source,
// without what came later.
func older(t *testing.T, minor int) *host.Plugin {
	t.Helper()
	folder, overlay := t.TempDir(), map[string]string{}
	source := map[string]string{}
	replace := func(file, is, was string) {
		if source[file] == "" {
			text, err := os.ReadFile(filepath.Join("../abi", file))
			if err != nil {
				t.Fatal(err)
			}
			source[file] = string(text)
		}
		if !strings.Contains(source[file], is) {
			t.Fatalf("%s has no %s", file, is)
		}
		source[file] = strings.ReplaceAll(source[file], is, was)
	}
	for later := abi.Minor; later > minor; later-- {
		for _, f := range forgotten[later] {
			replace(f.file, f.is, f.was)
		}
	}
	replace("abi.go", "Minor = "+string(rune('0'+abi.Minor)), "Minor = "+string(rune('0'+minor)))
	for file, text := range source {
		path := filepath.Join(folder, file)
		real, err := filepath.Abs(filepath.Join("../abi", file))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		overlay[real] = path
	}
	text, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "overlay.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	p := build(t, "../plugin/guest", "-overlay="+path)
	if d, err := p.Describe(t.Context()); err != nil || d.ABI.Minor != int64(minor) {
		t.Fatalf("%+v, %v", d, err)
	}
	return p
}

// A host says to a plugin what that has a word for, and makes the attempt where
// it has none.
func TestOlderPluginsAreToldWhatTheyKnow(t *testing.T) {
	if testing.Short() {
		t.Skip("two older plugins are built")
	}
	const listens, ready = 10 * time.Second, 30 * time.Second
	for minor, want := range map[int][]time.Duration{
		0: {0, 500 * time.Millisecond, 1500 * time.Millisecond, 3500 * time.Millisecond, 7500 * time.Millisecond, 15500 * time.Millisecond, 25500 * time.Millisecond, 35500 * time.Millisecond},
		1: {0, 15500 * time.Millisecond, 25500 * time.Millisecond, 35500 * time.Millisecond},
		2: {0, 17500 * time.Millisecond, 27500 * time.Millisecond, 37500 * time.Millisecond},
	} {
		p := older(t, minor)
		throughAll(t, func(t *testing.T, d door) {
			clock := &virtual.Clock{}
			task, starts := outageTask(clock, ready, 0)
			task.Policy = mustPolicy(t, steadyPolicy)
			task.Ready = &eyes{t: t, seen: func() host.Seen {
				return host.Seen{Down: clock.Now() < listens, NotReady: clock.Now() >= listens && clock.Now() < ready}
			}}
			told := map[bool]int{}
			task.Observe = func(e host.Event) {
				if e, ok := e.(host.LeftOut); ok {
					told[e.NotReady]++
				}
			}
			outcome, err := d.run(p, context.Background(), task)
			if err != nil || outcome.Type != abi.OutcomeOK {
				t.Fatalf("1.%d: %+v, %v", minor, outcome, err)
			}
			if diff := cmp.Diff(want, *starts); diff != "" {
				t.Errorf("1.%d: %s", minor, diff)
			}
			if (told[false] > 0) != (minor >= 1) || (told[true] > 0) != (minor >= 2) {
				t.Errorf("1.%d: told %v", minor, told)
			}
		})
	}
}

// What an older plugin has no word for, and what must not go unsaid, ends the
// call with its first failure; what may, is left out.
func TestOlderPluginsAndWhatACallSaysOfItself(t *testing.T) {
	p := older(t, 1)
	for name, c := range map[string]struct {
		call host.Call
		ends bool
	}{
		"several requests":           {host.Call{OneRequest: new(false)}, true},
		"a repeatable write":         {host.Call{Repeatable: true}, true},
		"one request":                {host.Call{OneRequest: new(true)}, false},
		"a read of several requests": {host.Call{Read: true, OneRequest: new(false), Repeatable: true}, false},
	} {
		throughAll(t, func(t *testing.T, d door) {
			task, starts := outageTask(&virtual.Clock{}, time.Second, 0)
			task.Call.Read, task.Call.OneRequest, task.Call.Repeatable = c.call.Read, c.call.OneRequest, c.call.Repeatable
			outcome, err := d.run(p, context.Background(), task)
			var failed *host.PluginError
			switch {
			case c.ends && (!errors.As(err, &failed) || len(*starts) != 1 || failed.LastResult == nil || !strings.Contains(err.Error(), "contract 1.1")):
				t.Errorf("%s: %+v, %v after %d attempts", name, outcome, err, len(*starts))
			case !c.ends && (err != nil || outcome.Type != abi.OutcomeOK):
				t.Errorf("%s: %+v, %v", name, outcome, err)
			}
		})
	}
}

// What a host saw of a request is left out for a plugin that has no word for it:
// it goes by the rest, and never takes a failure for a success.
func TestOlderPluginsAndWhatWasSeenOfARequest(t *testing.T) {
	p := older(t, 2)
	const patient = `{"version":1,"name":"x","budgets":{"b":{"attempts":3,"backoff":{"type":"linear","base":"1s","cap":"1s"}}},` +
		`"rules":[{"kind":"cut","when":[{"http_statuses":[0]}],"then":[{"retry":"b"}]},{"kind":"failed","then":[{"stop":{"effects":"unknown"}}]}]}`
	throughAll(t, func(t *testing.T, d door) {
		attempts := 0
		outcome, err := d.run(p, t.Context(), &host.Task{
			Policy: mustPolicy(t, patient), Clock: &virtual.Clock{},
			Call: host.Call{Remote: true, Read: true, RefusesBeforeActing: true},
			Attempt: func(context.Context, int64) (abi.Result, error) {
				if attempts++; attempts > 2 {
					return abi.Result{HTTPStatus: new(int64(200)), OnlyRequest: true}, nil
				}
				return abi.Result{HTTPStatus: new(int64(200)), Failure: abi.FailureCut, OnlyRequest: true}, nil
			},
		})
		if err != nil || outcome.Type != abi.OutcomeOK || outcome.Attempts != 3 {
			t.Errorf("%+v, %v", outcome, err)
		}
	})
}
