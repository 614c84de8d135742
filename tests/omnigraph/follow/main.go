// Command follow provokes an omnigraph: it has each verb meet each fault that a
// server, a proxy or a network is known to have, asks outlast what it makes of
// what was printed, and compares this with what really happened and with the
// captures of the releases that are known.
//
//	go run ./tests/omnigraph/follow                  the omnigraph on PATH, else the stand-in
//	go run ./tests/omnigraph/follow PATH/omnigraph   another
//
// It ends with 1 if outlast would run a write again that may have been applied,
// says of one that was that it was not, or gives up where waiting is right.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"outlast/host"
	"outlast/tests/omnigraph/faults"
)

type follow struct {
	faults.Command
	plugin   *host.Plugin
	policy   *host.Policy
	captures []faults.Capture
	only     *regexp.Regexp
	patience time.Duration
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	dir, err := os.MkdirTemp("", "outlast-follow-")
	if err == nil {
		defer os.RemoveAll(dir)
		var found bool
		if found, err = run(ctx, dir); err == nil && found {
			os.RemoveAll(dir)
			os.Exit(1)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "follow:", err)
		os.RemoveAll(dir)
		os.Exit(2)
	}
}

// run says whether anything was found that must not be.
func run(ctx context.Context, dir string) (found bool, err error) {
	f := &follow{}
	captures := flag.String("captures", "plugin/policy/testdata/captures-0.13.jsonl", "the `FILE` of what the known releases printed")
	flag.StringVar(&f.Contract, "contract", "", "the `VERSION` of its contract, such as 0.13 (default: what `omnigraph version` says)")
	flag.StringVar(&f.Release, "release", "", "the `RELEASE` that the stand-in is to be, such as 0.11 or 0.12-dev")
	only := flag.String("only", "", "only the scenarios that match this `PATTERN`")
	flag.DurationVar(&f.patience, "patience", 8*time.Second, "when a command that still waits is given up; a discovery takes up to 5 s")
	flag.Parse()
	if f.only, err = regexp.Compile(*only); err != nil {
		return false, fmt.Errorf("-only: %w", err)
	}
	if f.captures, err = faults.ReadCaptures(*captures); err != nil {
		return false, err
	}
	if f.policy, err = host.BuiltIn("omnigraph"); err != nil {
		return false, err
	}
	if f.plugin, err = host.Open(); err != nil {
		return false, err
	}
	defer f.plugin.Close(ctx)
	if err := f.find(ctx, dir, flag.Arg(0)); err != nil {
		return false, err
	}
	return f.all(ctx, os.Stdout)
}

// build builds a program of this module, which the working directory is.
func build(ctx context.Context, dir, pkg string) (path string, err error) {
	path = filepath.Join(dir, filepath.Base(pkg))
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", path, pkg).CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build %s: %w\n%s", pkg, err, out)
	}
	return path, nil
}

// find settles which omnigraph, and of which contract.
func (f *follow) find(ctx context.Context, dir, path string) (err error) {
	if path == "" {
		if path, err = exec.LookPath("omnigraph"); err != nil {
			fmt.Println("no omnigraph on PATH: the stand-in is provoked in its place")
			path, err = build(ctx, dir, "./tests/omnigraph/omnigraph")
		}
	}
	if err != nil {
		return err
	}
	if f.Path, err = filepath.Abs(path); err != nil {
		return err
	}
	version := exec.CommandContext(ctx, f.Path, "version")
	version.Env = append(os.Environ(), "STANDIN_RELEASE="+f.Release)
	out, fault := version.Output()
	said := regexp.MustCompile(`^omnigraph (\d+\.\d+)\.\d+`).FindStringSubmatch(string(out))
	switch {
	case fault == nil && said != nil:
		f.Operands = true
		if f.Contract == "" {
			f.Contract = said[1]
		}
		fmt.Printf("%s: %s\n", path, strings.ReplaceAll(strings.TrimSpace(string(out)), "\n", ", "))
	case f.Contract == "":
		return fmt.Errorf("%s does not say its version (%v): give its contract with -contract 0.13", path, fault)
	default:
		fmt.Printf("%s: says no version; its verbs are called without operands\n", path)
	}
	return nil
}
