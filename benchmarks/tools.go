package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// tool is one that rides out an outage, with a kind of call.
type tool struct {
	name, call string // call: query, which reads, or mutate
	argv       []string
	inWitan    bool // the call is made in witan.py
}

// The words of an argv that stand for what differs from call to call.
const (
	urlWord     = "URL"
	addressWord = "ADDRESS"
)

// outlastTools are outlast's ways to know that a server is back.
var outlastTools = []struct{ name, ready string }{
	{"`outlast run`, as it is (`--ready auto`)", "auto"},
	{"`outlast run --ready tcp://…`", "tcp://" + addressWord},
	{"`outlast run --ready http://…/healthz`", urlWord + "/healthz"},
	{"`outlast run --ready off`", "off"},
}

// names of the others, as the page has them.
const (
	witanName    = "witan-core 0.45.0, its own loop"
	backoffName  = "cenkalti/backoff v5.0.3, as it is"
	retryName    = "Debian's `retry`, as it is (10 s)"
	retryOneName = "Debian's `retry --delay 1`"
)

// tools are all that this machine has, and a note for each that it lacks.
func (b *bench) tools(withWitan error) (list []tool, notes []string) {
	for _, call := range []string{"query", "mutate"} {
		for _, o := range outlastTools {
			list = append(list, tool{name: o.name, call: call, argv: []string{b.at("outlast"), "run", "--quiet", "--ready", o.ready, "--"}})
		}
		if withWitan == nil {
			list = append(list, tool{name: witanName, call: call, inWitan: true})
		}
		list = append(list, tool{name: backoffName, call: call, argv: []string{b.at("backoff")}})
		if _, err := exec.LookPath("retry"); err == nil {
			list = append(list,
				tool{name: retryName, call: call, argv: []string{"retry", "--"}},
				tool{name: retryOneName, call: call, argv: []string{"retry", "--delay", "1", "--"}})
		}
	}
	if withWitan != nil {
		notes = append(notes, fmt.Sprintf("witan-core was left out: %v.", withWitan))
	}
	if _, err := exec.LookPath("retry"); err != nil {
		notes = append(notes, "Debian's `retry` was left out: it is not installed (`apt-get install retry`).")
	}
	return list, notes
}

// command is what a tool runs for one call.
func (t *tool) command(address, id string) []string {
	fill := strings.NewReplacer(urlWord, "http://"+address, addressWord, address)
	var argv []string
	for _, word := range t.argv {
		argv = append(argv, fill.Replace(word))
	}
	return append(argv, "omnigraph", t.call, "everybody", "--server", "http://"+address, "--graph", id)
}

// buildTools builds what the outages need.
func (b *bench) buildTools() error {
	for _, p := range []struct{ dir, pkg, to string }{
		{b.root, "./cmd/outlast", "outlast"},
		{b.root, "./tests/omnigraph/omnigraph", "standin"},
		{".", "./timed", "bin/omnigraph"},
		{".", "./server", "server"},
		{".", "./backoff", "backoff"},
	} {
		build := exec.Command("go", "build", "-buildvcs=false", "-trimpath", "-ldflags=-s -w", "-o", b.at(p.to), p.pkg)
		build.Dir = p.dir
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %v\n%s", p.pkg, err, out)
		}
	}
	for _, dir := range []string{"attempts", "home", "witan"} {
		if err := os.Mkdir(b.at(dir), 0o700); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) at(path string) string { return filepath.Join(b.dir, path) }

// env is the environment of a call: no proxy, no settings of the user's.
func (b *bench) env() []string {
	return []string{
		"PATH=" + b.at("bin") + ":" + os.Getenv("PATH"), "HOME=" + b.at("home"),
		"NO_PROXY=*",
		"BENCH_ATTEMPTS=" + b.at("attempts"), "BENCH_COMMAND=" + b.at("standin"), "STANDIN_RELEASE=0.10", // its server listens when it is ready
		"WITAN_OMNIGRAPH_HTTP=0", "WITAN_REMOTE_WRITE_MAX_INFLIGHT=1000",
	}
}
