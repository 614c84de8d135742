// Package faults makes a server of omnigraph's fail in each way that is known,
// one way at a time, and says what really happened to the request and what a
// caller should make of it.
package faults

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

//go:embed faults.jsonl
var table []byte

// Fault is one way to fail.
type Fault struct {
	Scenario string `json:"scenario"`
	// Read and Write are what a caller should do: retry, stop, ok, or for a write
	// indeterminate. What may be done in its place follows, after a |. Empty where
	// the scenario is not about such a call.
	Read  string `json:"read"`
	Write string `json:"write"`
	// Applied says that a write takes effect.
	Applied bool `json:"applied"`
	// Twin is a format in which nothing tells this from something that may be
	// retried, and which no path of the real server leads to.
	Twin string `json:"twin"`
	// Instead is what there is in place of a server: refuse (nobody listens),
	// unresolvable (a name that no one has), untrusted (a certificate that no one
	// trusts).
	Instead string `json:"instead"`
	// NoGraph calls without --graph, IfCommit with --if-commit.
	NoGraph  bool   `json:"no_graph"`
	IfCommit string `json:"if_commit"`
	// Timeout is the client's, such as 300ms; only managed folders have one.
	Timeout string `json:"timeout"`
	// Discovery answers HEAD /healthz, and Data all else. Left out, they answer
	// well.
	Discovery *Step `json:"discovery"`
	Data      *Step `json:"data"`
}

// Step is what a server does with one request: answer, or something else.
type Step struct {
	// Does is close, reset, silence, garble (what is no HTTP), cut and cut_chunk
	// (half of an answer), or go: to answer well, and listen no more.
	Does     string            `json:"does"`
	Status   int               `json:"status"`
	Headers  map[string]string `json:"headers"`
	Contract []string          `json:"contract"` // of the header omnigraph-http-api; OWN is the client's own
	Body     json.RawMessage   `json:"body"`
	Text     string            `json:"text"` // a body that is no JSON
}

// All is every fault, by its name.
func All() (list []Fault) {
	lines := bufio.NewScanner(bytes.NewReader(table))
	for lines.Scan() {
		d := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		d.DisallowUnknownFields()
		var f Fault
		if err := d.Decode(&f); err != nil {
			panic(fmt.Sprintf("faults.jsonl: %v in %s", err, lines.Text()))
		}
		list = append(list, f)
	}
	return list
}

// Want is what a caller should do, and what it may do in its place.
func (f *Fault) Want(read bool) (best string, or []string) {
	text := f.Write
	if read {
		text = f.Read
	}
	words := strings.Split(text, "|")
	return words[0], words[1:]
}

// MayBe says whether a caller may do this.
func (f *Fault) MayBe(read bool, verdict string) bool {
	best, or := f.Want(read)
	return verdict == best || slices.Contains(or, verdict)
}
