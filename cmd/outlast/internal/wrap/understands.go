package wrap

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"

	"outlast/abi"
	"outlast/cmd/outlast/internal/library"
	"outlast/host"
	"outlast/plugin/policy"
)

// Understands says whether a policy understands a command's output: it is the
// command's own, or differs from that in numbers and names only. given is how the
// user named it; "": not at all.
func Understands(given string, p *host.Policy, own string) bool {
	switch {
	case given == "" || given == own, own == "omnigraph" && given == "witan-core":
		return true
	case slices.Contains(library.Names(), given):
		return false
	}
	doc, err := policy.Parse(library.Source(own))
	return err == nil && reflect.DeepEqual(recognition(doc.Normal), recognition(p.Document()))
}

// UnderstandsAny says whether a policy understands any command that outlast knows.
// Nothing that is printed under another one makes run repeat a write.
func UnderstandsAny(given string, p *host.Policy) bool {
	return slices.ContainsFunc(library.Names(), func(own string) bool { return Understands(given, p, own) })
}

// recognition is what a document in normal form recognises and does, for whatever
// times.
func recognition(document string) map[string]any {
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
func (p *Plan) unproven(o *abi.Outcome) string {
	if o == nil || o.Type != abi.OutcomeIndeterminate || p.Call.Read || p.Call.Repeatable || p.speaksForItself() {
		return ""
	}
	const claims = "give --read if it changes nothing, or --repeatable if it may be run again"
	switch program := filepath.Base(p.Argv[0]); {
	case p.Command.Known:
		return fmt.Sprintf("this policy does not understand what %s prints as its own does: %s", program, claims)
	case p.Command.Name != "":
		return fmt.Sprintf("this %s is a script, or another program of that name, which may do more than one thing: %s, "+
			"or --wrapper FILE if it runs the real %[1]s once", p.Command.Name, claims)
	default:
		return fmt.Sprintf("outlast does not know what %s does: %s", program, claims)
	}
}

// described says what the call is taken for, which decides what is retried.
func (p *Plan) described() string {
	what := "a write"
	switch {
	case p.Repeatable:
		what = "a write that may be repeated"
	case p.Call.Read:
		what = "a read"
	}
	if p.Call.Remote {
		return what + " over the network"
	}
	return what + " of a local store"
}
