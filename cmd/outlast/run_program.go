package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"

	"outlast/abi"
	"outlast/commands"
	"outlast/commands/omnigraph"
	"outlast/plugin/policy"
	"outlast/process"
)

// commandName is the name of the command that argv0 calls, if its lines can be
// read; "" for another.
func commandName(argv0 string) string {
	if omnigraph.Is(argv0) {
		return "omnigraph"
	}
	return commands.For(argv0)
}

// identify notes whether the program is the command whose name it has, and in
// which environment that runs. A script may do anything, before and after,
// whatever its name.
func (w *wrapped) identify() {
	w.name, w.lineEnv = commandName(w.argv[0]), w.env
	path, err := process.LookPath(w.argv[0])
	if w.name == "" || err != nil {
		return
	}
	program := commands.Program{Path: path, Env: w.env, Wrappers: w.verb.Wrapper}
	if env, ok := program.Is(w.name); ok {
		w.lineEnv, w.known = env, true
	}
}

// checkWrappers refuses a wrapper that is not there, and one that others could
// change: what it does is vouched for by the user alone.
func (v *runVerb) checkWrappers() error {
	for _, path := range v.Wrapper {
		info, err := os.Stat(path)
		switch {
		case err != nil:
			return usageError("--wrapper: expected the file of a script or program, not %q: there is none", path)
		case !info.Mode().IsRegular():
			return usageError("--wrapper: expected the file of a script or program, not %q", path)
		case runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0:
			return usageError("--wrapper: %s can be written by others (mode %04o), who could change what it does: chmod go-w %[1]s", path, info.Mode().Perm())
		}
	}
	return nil
}

// judge says what may be concluded from what an attempt prints. It speaks for
// the whole attempt if the program is the command that the policy reads, and
// its line makes one request that can have effects. Without that, nothing that
// is printed makes a write be repeated.
func (w *wrapped) judge() {
	switch {
	case w.call.Read, w.call.Repeatable:
		return
	case !w.known || !w.policyReads():
		w.call.OneRequest = new(false)
	case w.graph != nil:
		w.call.OneRequest = w.graph.OneRequest()
	default:
		w.call.OneRequest = &w.line.Direct
	}
}

// policyReads says whether the policy is one that reads the command: its own,
// or one that differs from its own in numbers and names only.
func (w *wrapped) policyReads() bool {
	own := policyFor(w.argv[0])
	switch given := w.verb.Policy; {
	case given == "" || given == own, own == "omnigraph" && given == "witan-core":
		return true
	case slices.Contains(policyNames(), given):
		return given == policyNetwork
	}
	doc, err := policy.Parse(source(own))
	return err == nil && sameReading(doc.Normal, w.policy.Document())
}

// policyNetwork goes by what the host has seen, and by no text.
const policyNetwork = "network"

// sameReading says whether two documents in normal form recognise and do the
// same, for whatever times.
func sameReading(a, b string) bool { return reflect.DeepEqual(reading(a), reading(b)) }

func reading(document string) map[string]any {
	var members map[string]any
	if json.Unmarshal([]byte(document), &members) != nil {
		return nil
	}
	for _, name := range []string{"name", "description", "measured", "budgets"} {
		delete(members, name)
	}
	return members
}

// unproven says why a write was not repeated that outlast knows nothing of, and
// what would have it repeated; "" where that is not the reason.
func (w *wrapped) unproven(o *abi.Outcome) string {
	if o == nil || o.Type != abi.OutcomeIndeterminate || w.call.Read || w.call.Repeatable || w.known && w.policyReads() {
		return ""
	}
	const claims = "give --read if it changes nothing, or --repeatable if it may be run again"
	switch program := filepath.Base(w.argv[0]); {
	case w.known:
		return fmt.Sprintf("this policy does not read what %s prints as its own does: %s", program, claims)
	case w.name != "":
		return fmt.Sprintf("this %s is a script, or another program of that name, which may do more than one thing: %s, "+
			"or --wrapper FILE if it runs the real %[1]s once", w.name, claims)
	default:
		return fmt.Sprintf("outlast does not know what %s does: %s", program, claims)
	}
}
