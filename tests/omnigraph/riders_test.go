//go:build unix

package omnigraph

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"outlast/abi"
	"outlast/commands/omnigraph"
	"outlast/host"
	"outlast/process"
	"outlast/ready"
)

// TestRestarts plays each story with each call, as the tool, the tool driven by the
// plugin, the link and a Go program make it, with the server and the command of today, and with those of
// 0.10 and 0.11, which listen once they are ready.
func TestRestarts(t *testing.T) {
	for name, r := range map[string]*rider{
		"tool":   {names: true, call: byTool()},
		"driven": {names: true, call: byTool("--drive", "plugin")},
		"link":   {call: byLink},
		"go":     {names: true, call: byGo},
	} {
		for _, release := range []string{"0.13", "0.11", "0.10"} {
			for i, call := range calls {
				if release != "0.13" && (i%3 != 0 || name != "tool") || name != "tool" && i > 4 {
					continue // the decisions are the tool's, and these are slow
				}
				for _, story := range stories {
					t.Run(name+"/"+release+"/"+call+"/"+story.name, func(t *testing.T) {
						t.Parallel()
						turn <- struct{}{}
						defer func() { <-turn }()
						r.play(t, release, call, story)
					})
				}
			}
		}
	}
}

// turn bounds what goes on at once: they wait most of the time.
var turn = make(chan struct{}, 16)

// environment is what a caller's program has.
func environment(t *testing.T, release string) []string {
	t.Helper()
	home := filepath.Join(t.TempDir(), "home")
	if err := os.MkdirAll(home, 0o700); err != nil {
		t.Fatal(err)
	}
	return []string{
		"PATH=" + built + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + home, "NO_PROXY=*",
		"STANDIN_RELEASE=" + release,
	}
}

// run runs a program to its end.
func run(t *testing.T, env []string, program string, args ...string) (stdout, stderr string, exit int) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = env, &out, &errs
	var failed *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// byTool makes a call with the tool and flags of its own.
func byTool(flags ...string) func(t *testing.T, release string, argv []string) told {
	return func(t *testing.T, release string, argv []string) told {
		return runTool(t, release, slices.Concat(flags, []string{"--"}, argv))
	}
}

func runTool(t *testing.T, release string, args []string) told {
	report := filepath.Join(t.TempDir(), "report")
	stdout, stderr, exit := run(t, environment(t, release), filepath.Join(built, "outlast"),
		append([]string{"run", "-v", "--report", report}, args...)...)
	text, err := os.ReadFile(report)
	var r struct{ Outcome string }
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		t.Errorf("%v; exit %d: %s", err, exit, stderr)
	}
	if (exit == 0) != (r.Outcome == string(abi.OutcomeOK)) {
		t.Errorf("exit %d with outcome %s", exit, r.Outcome)
	}
	return told{r.Outcome, stdout, stderr + string(text)}
}

func byLink(t *testing.T, release string, argv []string) told {
	env := environment(t, release)
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(built, "outlast"), filepath.Join(dir, argv[0])); err != nil {
		t.Fatal(err)
	}
	env[0] = "PATH=" + dir + string(os.PathListSeparator) + env[0][len("PATH="):]
	stdout, stderr, exit := run(t, env, filepath.Join(dir, argv[0]), argv[1:]...)
	outcome := "failed"
	if exit == 0 {
		outcome = "ok"
	}
	return told{outcome, stdout, stderr}
}

// loaded is the plugin of all calls by Go.
var loaded = sync.OnceValues(func() (*host.Plugin, error) { return host.Open() })

func byGo(t *testing.T, release string, argv []string) told {
	plugin, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	inv := omnigraph.Parse(argv)
	policy, err := host.BuiltIn("omnigraph")
	if err != nil {
		t.Fatal(err)
	}
	target, err := ready.Omnigraph(inv.Server)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	command := process.Command{Argv: append([]string{filepath.Join(built, argv[0])}, argv[1:]...), Env: environment(t, release), Stdout: &out}
	var last *process.Ended
	outcome, err := plugin.Run(t.Context(), &host.Task{
		Policy: policy,
		Call:   host.Call{Label: argv[1], Remote: true, Read: !inv.Write},
		Ready:  ready.Server(target),
		Attempt: func(ctx context.Context, _ int64) (abi.Result, error) {
			if last != nil {
				last.Discard()
			}
			var err error
			if last, err = command.Attempt(ctx); err != nil {
				return abi.Result{}, err
			}
			return last.Result, nil
		},
	})
	if outcome == nil {
		t.Fatal(err)
	}
	if err := last.Commit(); err != nil {
		t.Fatal(err)
	}
	return told{string(outcome.Type), out.String(), outcome.Message}
}
