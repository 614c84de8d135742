package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"outlast/cmd/outlast/internal/exit"
	"outlast/cmd/outlast/internal/library"
	"outlast/cmd/outlast/internal/words"
	"outlast/plugin/policy"
)

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
	for _, name := range library.Names() {
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
		fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\n", l.Name, words.Choose(chosen == "", "-", chosen), words.Seconds(wait),
			words.Choose(l.Measured == 0, "no", words.Count(l.Measured, "outage")), l.From)
	}
	return out.Flush()
}

func listedAs(name string) (listed, error) {
	doc, err := policy.Parse(library.Source(name))
	if err != nil {
		return listed{}, exit.Unusable(err)
	}
	l := listed{Name: name, For: []string{}, From: "built into the plugin", Measured: len(doc.Measured), Description: doc.Description}
	if library.IsBundled(name) {
		l.From = "bundled with the tool"
	}
	if library.For(name) == name {
		l.For = append(l.For, name)
	}
	for _, b := range doc.Budgets {
		l.MaxWaitUS = max(l.MaxWaitUS, b.MaxWait)
	}
	return l, nil
}
