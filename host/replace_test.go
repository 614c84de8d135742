package host_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"outlast/abi"
	"outlast/host"
	"outlast/host/virtual"
)

// build compiles a plugin for a test and opens it.
func build(t *testing.T, pkg string, flags ...string) *host.Plugin {
	t.Helper()
	path := filepath.Join(t.TempDir(), "plugin.wasm")
	args := append([]string{"build", "-buildmode=c-shared", "-trimpath", "-ldflags=-s -w", "-o", path}, flags...)
	cmd := exec.Command("go", append(args, pkg)...)
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building %s: %v\n%s", pkg, err, out)
	}
	p, err := host.Open(host.WithFile(path), host.WithInterpreter())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close(context.Background()) })
	return p
}

// A plugin that dies again and again in the middle of a call: the call goes on
// with new instances and with what it has spent, to the microsecond.
func TestInstancesAreReplaced(t *testing.T) {
	mortal := build(t, "../plugin/guest", "-tags=outlast_mortal")
	clock := &virtual.Clock{}
	task, starts := outageTask(clock, 61*time.Second, 0)
	want, wantStarts := outageTask(&virtual.Clock{}, 61*time.Second, 0)
	replaced := 0
	task.Observe = func(e host.Event) {
		if _, ok := e.(host.InstanceReplaced); ok {
			replaced++
		}
	}
	outcome, err := mortal.RunInPlugin(context.Background(), task)
	if err != nil {
		t.Fatal(err)
	}
	expected, err := compiled.RunInPlugin(context.Background(), want)
	if err != nil {
		t.Fatal(err)
	}
	if outcome.Type != abi.OutcomeOK || replaced < 3 || outcome.ElapsedUS != expected.ElapsedUS || len(*starts) != len(*wantStarts) {
		t.Errorf("%d replaced, %d attempts, %+v", replaced, len(*starts), outcome)
	}
}

// A plugin that cannot decide at all: the error has the last result, which the
// caller needs to end as the attempt did, and that attempt's own error.
func TestPluginThatAlwaysFails(t *testing.T) {
	own := errors.New("own")
	broken := build(t, "./testdata/broken")
	throughAll(t, func(t *testing.T, d door) {
		attempts := 0
		_, err := d.run(broken, context.Background(), &host.Task{
			Attempt: func(context.Context, int64) (abi.Result, error) {
				attempts++
				return exited(42, "own words"), own
			},
		})
		var failed *host.PluginError
		if !errors.As(err, &failed) || !errors.Is(err, own) || failed.LastResult == nil || *failed.LastResult.ExitCode != 42 || attempts != 1 {
			t.Errorf("%v after %d attempts", err, attempts)
		}
	})
}
