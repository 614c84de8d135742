package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"

	"outlast/abi"
	"outlast/commands/omnigraph"
	"outlast/host"
	"outlast/tests/omnigraph/faults"
)

// atOnce is how many commands are provoked at once (a choice: most of them wait
// for nothing, and building reports takes a core).
const atOnce = 4

// cell is one verb that met one fault.
type cell struct {
	form    faults.Form
	fault   faults.Fault
	shown   faults.Shown
	said    explanation
	capture *faults.Capture // what is known of it; nil: nothing
	err     error
}

// explanation is what the policy makes of a run.
type explanation struct {
	kind    string
	retry   bool
	outcome abi.OutcomeType
	effects abi.Effects
}

func (e *explanation) verdict(read bool) string {
	switch {
	case e.retry:
		return "retry"
	case e.outcome == abi.OutcomeOK:
		return "ok"
	case !read && e.effects == abi.EffectsUnknown:
		return "indeterminate"
	}
	return "stop"
}

// forms are the verbs; those that tell no outcome take operands.
func (f *follow) forms() []faults.Form {
	if !f.Operands {
		return faults.Forms
	}
	return append(append([]faults.Form{}, faults.Forms...),
		faults.Form{Command: "branch create", Format: "human"}, faults.Form{Command: "branch create", Format: "json"},
		faults.Form{Command: "branch delete", Format: "human"}, faults.Form{Command: "branch merge", Format: "json"},
		faults.Form{Command: "optimize", Format: "human"}, faults.Form{Command: "optimize", Format: "json"},
		faults.Form{Command: "cluster apply", Format: "human"},
	)
}

// all provokes everything, prints what came of it, and says whether anything was
// found that must not be.
func (f *follow) all(ctx context.Context, out io.Writer) (found bool, err error) {
	var cells []*cell
	for _, fault := range faults.All() {
		if !f.only.MatchString(fault.Scenario) {
			continue
		}
		for _, form := range f.forms() {
			if best, _ := fault.Want(form.Read()); best != "" {
				cells = append(cells, &cell{form: form, fault: fault})
			}
		}
	}
	var running sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for _, c := range cells {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			c.err = f.one(ctx, c)
		})
	}
	running.Wait()
	for _, c := range cells {
		if c.err != nil {
			return false, fmt.Errorf("%v, %s: %w", c.form, c.fault.Scenario, c.err)
		}
	}
	return f.print(out, cells), nil
}

func (f *follow) one(ctx context.Context, c *cell) (err error) {
	c.capture = f.captured(c)
	if c.shown, err = c.fault.Provoke(ctx, &f.Command, c.form, f.patience); err != nil || c.skipped() != "" {
		return err
	}
	c.said, err = f.explain(ctx, c)
	return err
}

// skipped says why nothing can be said of a cell.
func (c *cell) skipped() string {
	switch {
	case c.shown.TimedOut:
		return "still waiting: its client has no limit"
	case c.shown.Exit == 2 && c.shown.Stdout == "" && strings.HasPrefix(c.shown.Stderr, "error: "):
		first, _, _ := strings.Cut(c.shown.Stderr, "\n")
		return "usage: " + first
	}
	return ""
}

// captured is what is known of a cell, from this release or the newest one that
// there are captures of.
func (f *follow) captured(c *cell) (best *faults.Capture) {
	release := f.Release
	if release == "" {
		release = f.Contract
	}
	for i := range f.captures {
		k := &f.captures[i]
		if k.Command != c.form.Command || k.Format != c.form.Format || k.Scenario != c.fault.Scenario {
			continue
		}
		if k.Version == release {
			return k
		}
		if k.Version == newest && (best == nil) && f.Contract != "0.11" && f.Contract != "0.10" {
			best = k
		}
	}
	return best
}

// newest is the release that the captures have in full.
const newest = "0.13"

// explain asks the plugin, as the tool would.
func (f *follow) explain(ctx context.Context, c *cell) (e explanation, err error) {
	inv := omnigraph.Parse(append([]string{"omnigraph"}, f.Args(c.form, &c.fault, "http://127.0.0.1:8080")...))
	result := abi.Result{Stdout: abi.Clip(c.shown.Stdout), Stderr: abi.Clip(c.shown.Stderr)}
	if c.shown.Exit < 0 {
		result.Signal = "SIGKILL"
	} else {
		code := int64(c.shown.Exit)
		result.ExitCode = &code
	}
	seed := int64(0)
	action, err := f.plugin.Explain(ctx, f.policy, host.Call{Label: inv.Verb, Remote: true, Read: !inv.Write, OneRequest: inv.OneRequest(), Seed: &seed}, result)
	if err != nil {
		return e, err
	}
	e = explanation{kind: action.Kind, retry: action.Type == abi.Retry}
	if action.Outcome != nil {
		e.outcome, e.effects = action.Outcome.Type, action.Outcome.Effects
	}
	return e, nil
}
