package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"outlast/commands"
	"outlast/commands/omnigraph"
	"outlast/plugin/policy"
)

// policyNames are all policies that can be named: those built into the plugin,
// the default one first, and the bundled ones.
func policyNames() []string { return append(policy.Names(), commands.Names()...) }

// source is the text of a named policy as its author wrote it, "" if there is
// none of that name.
func source(name string) string {
	if text := policy.Source(name); text != "" {
		return text
	}
	return commands.Policy(name)
}

// policyFor is the policy that is chosen for a command, "" if none is.
func policyFor(argv0 string) string {
	if omnigraph.Is(argv0) {
		return "omnigraph"
	}
	return commands.For(argv0)
}

type policyListVerb struct {
	JSON bool `name:"json" help:"Print one JSON array."`
}

// listed is one policy in the list.
type listed struct {
	Name        string   `json:"name"`
	For         []string `json:"for"`         // the commands that it is chosen for
	MaxWaitUS   int64    `json:"max_wait_us"` // its longest window
	From        string   `json:"from"`
	Measured    int      `json:"measured"` // how many outages its numbers are sized against
	Description string   `json:"description"`
}

// Run lists what can be named. A file is a policy too, and is not listed.
func (v *policyListVerb) Run() error {
	var list []listed
	for _, name := range policyNames() {
		l, err := listedAs(name)
		if err != nil {
			return err
		}
		list = append(list, l)
	}
	if v.JSON {
		return json.NewEncoder(stdout).Encode(list)
	}
	out := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "NAME\tCHOSEN FOR\tWAITS\tMEASURED\tFROM")
	for _, l := range list {
		chosen := strings.Join(l.For, ", ")
		wait := time.Duration(l.MaxWaitUS) * time.Microsecond
		fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\n", l.Name, choose(chosen == "", "-", chosen), seconds(wait),
			choose(l.Measured == 0, "no", count(l.Measured, "outage")), l.From)
	}
	return out.Flush()
}

func listedAs(name string) (listed, error) {
	doc, err := policy.Parse(source(name))
	if err != nil {
		return listed{}, unusable(err)
	}
	l := listed{Name: name, For: []string{}, From: "built into the plugin", Measured: len(doc.Measured), Description: doc.Description}
	if commands.Policy(name) != "" {
		l.From = "bundled with the tool"
	}
	if policyFor(name) == name {
		l.For = append(l.For, name)
	}
	for _, b := range doc.Budgets {
		l.MaxWaitUS = max(l.MaxWaitUS, b.MaxWait)
	}
	return l, nil
}
