package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"outlast/cmd/outlast/internal/exit"
	"outlast/cmd/outlast/internal/library"
	"outlast/cmd/outlast/internal/safetext"
	"outlast/cmd/outlast/internal/words"
	"outlast/followed"
	"outlast/plugin/policy"
)

type policyListVerb struct {
	PolicyDir string `placeholder:"DIR" help:"The folder that policy pull keeps: what is in force from there, and since when."`
	JSON      bool   `name:"json" help:"Print one JSON array."`
}

// takesSettings has the folder taken from where run takes it.
func (v *policyListVerb) takesSettings() {}

// listed is one policy in the list.
type listed struct {
	Name        string   `json:"name"`
	For         []string `json:"for"`         // the commands that it is chosen for
	MaxWaitUS   int64    `json:"max_wait_us"` // its longest window
	From        string   `json:"from"`
	Measured    int      `json:"measured"` // how many outages its numbers are sized against
	Description string   `json:"description"`

	// Of a policy that is followed:
	Serial  int64  `json:"serial,omitempty"`
	Since   string `json:"since,omitempty"`
	Expires string `json:"expires,omitempty"`
	Expired bool   `json:"expired,omitempty"`

	Fault string `json:"fault,omitempty"` // why the one in the folder is not in force
}

// Run lists what can be named. A file is a policy too, and is not listed.
func (v *policyListVerb) Run() error {
	var list []listed
	names := library.Names()
	if v.PolicyDir != "" {
		more, err := followed.Names(v.PolicyDir)
		if err != nil {
			say("%v", err)
		}
		slices.Sort(more)
		for _, name := range more {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	for _, name := range names {
		l, err := v.listed(name)
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
			words.Choose(l.Measured == 0, "no", words.Count(l.Measured, "outage")), l.from())
	}
	return out.Flush()
}

// from is all that is to be said of where a policy comes from.
func (l *listed) from() string {
	text := safetext.Line(l.From)
	if l.Serial > 0 {
		text += fmt.Sprintf(", serial %d, since %s", l.Serial, l.Since)
	}
	if l.Expires != "" {
		text += words.Choose(l.Expired, ", expired at ", ", expires at ") + l.Expires
	}
	if l.Fault != "" {
		text += " (not in force: " + safetext.Line(l.Fault) + ")"
	}
	return text
}

// listed is the policy of a name that is in force.
func (v *policyListVerb) listed(name string) (listed, error) {
	p, why, err := library.LoadFollowed(v.PolicyDir, name)
	if err != nil && library.Source(name) == "" { // only a faulty one in the folder has the name
		return listed{Name: name, For: []string{}, From: "-", Fault: why.Error()}, nil
	}
	if err != nil {
		return listed{}, err
	}
	doc, err := policy.Parse(p.Document())
	if err != nil {
		return listed{}, exit.Unusable(err)
	}
	l := listed{Name: name, For: []string{}, From: "built into the plugin", Measured: len(doc.Measured), Description: doc.Description}
	if library.IsBundled(name) {
		l.From = "bundled with the tool"
	}
	if why != nil && !errors.Is(why, fs.ErrNotExist) {
		l.Fault = why.Error()
	}
	if r := p.Release(); r != nil {
		l.From, l.Serial, l.Since = r.Source, r.Serial, r.Since.Format(time.RFC3339)
		if !r.Expires.IsZero() {
			l.Expires, l.Expired = r.Expires.Format(time.RFC3339), time.Now().After(r.Expires)
		}
	}
	if library.For(name) == name {
		l.For = append(l.For, name)
	}
	for _, b := range doc.Budgets {
		l.MaxWaitUS = max(l.MaxWaitUS, b.MaxWait)
	}
	return l, nil
}
