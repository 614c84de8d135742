package host

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"outlast/abi"
	"outlast/plugin/policy"
)

// Policy is a policy that has been checked, natively, so that a fault shows
// before anything runs.
type Policy struct {
	doc     func() *policy.Document // a built-in, whose text is known to be right, is not read before it is asked
	name    string                  // of a built-in that is unchanged; "" for a document
	release *Release                // nil: it is not followed
	changed atomic.Pointer[changed] // what it was asked for last
}

// checked is a policy whose document has been read.
func checked(doc *policy.Document) *Policy {
	return &Policy{doc: func() *policy.Document { return doc }}
}

// Default is the built-in policy network, for functions that make requests: it goes
// by what was seen of these. A command needs the policy that knows what it prints,
// such as the built-in omnigraph.
func Default() *Policy { return defaultPolicy() }

var defaultPolicy = sync.OnceValue(func() *Policy {
	p, err := BuiltIn("network")
	if err != nil {
		panic(err)
	}
	return p
})

// BuiltIn is a policy that the plugin carries: omnigraph, witan-core or network.
// The error is a *PolicyError.
func BuiltIn(name string) (*Policy, error) {
	if !slices.Contains(policy.Names(), name) {
		_, err := policy.BuiltIn(name)
		return nil, policyError(name, err)
	}
	return &Policy{name: name, doc: func() *policy.Document {
		doc, err := policy.BuiltIn(name)
		if err != nil {
			panic(err) // it has just been there
		}
		return doc
	}}, nil
}

// ParsePolicy checks a policy document in JSON. The error is a *PolicyError
// that lists every fault.
func ParsePolicy(text string) (*Policy, error) {
	doc, err := policy.Parse(text)
	if err != nil {
		return nil, policyError("document", err)
	}
	return checked(doc), nil
}

// ReadPolicy checks the policy document in a file, and reads no more of it than
// a document may have.
func ReadPolicy(path string) (*Policy, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, policyError(path, err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, abi.MaxDocumentBytes+1))
	if err != nil {
		return nil, policyError(path, err)
	}
	doc, err := policy.Parse(string(text))
	if err != nil {
		return nil, policyError(path, err)
	}
	return checked(doc), nil
}

func policyError(name string, err error) error {
	var known *abi.Error
	if !errors.As(err, &known) {
		known = &abi.Error{Code: abi.CodeInvalidPolicy, Message: err.Error()}
	}
	return &PolicyError{Name: name, Err: known}
}

// Name is what the policy calls itself.
func (p *Policy) Name() string {
	if p.name != "" {
		return p.name
	}
	return p.doc().Name
}

// Digest identifies the normalised document: equal policies have equal digests.
func (p *Policy) Digest() string { return p.doc().Digest }

// Document is the normalised document in JSON, with every default filled in.
func (p *Policy) Document() string { return p.doc().Normal }

// ForRequests says whether the policy asks for what was seen of a request, and so
// is one for functions and not for a command.
func (p *Policy) ForRequests() bool { return p.doc().AsksForFailures() }

// Measured are the outages that the policy's numbers are sized against.
func (p *Policy) Measured() []Outage {
	var out []Outage
	for _, m := range p.doc().Measured {
		out = append(out, Outage{m.Name, time.Duration(m.Duration) * time.Microsecond, m.Source})
	}
	return out
}

// Outage is a time during which a server was gone.
type Outage struct {
	Name     string
	Duration time.Duration
	Source   string // where it was measured
}

// WithMaxWait is the policy with another window for every budget that has one.
// The error is a *PolicyError: the window must be positive and whole microseconds.
func (p *Policy) WithMaxWait(d time.Duration) (*Policy, error) {
	return p.adjusted(p.doc().WithMaxWait(micros(d)))
}

// MaxSpread is the widest spread that a policy can be given (a choice: far above any
// that keeps a fleet apart).
const MaxSpread = time.Hour

// WithSpread is the policy with another spread of woken callers for every budget
// whose waits may be cut short: whole microseconds, up to MaxSpread. A policy that
// cuts no wait short has nothing to spread, and is given back as it is. The error is a
// *PolicyError.
func (p *Policy) WithSpread(d time.Duration) (*Policy, error) {
	switch {
	case d < time.Microsecond || d > MaxSpread:
		text := fmt.Sprintf("expected a duration from 1µs to %v, not %v", MaxSpread, d)
		return nil, policyError(p.Name(), &abi.Error{Code: abi.CodeInvalidPolicy, Field: "spread", Message: text})
	case p.Spread() == 0:
		return p, nil
	}
	return p.adjusted(p.doc().WithSpread(micros(d)))
}

// Spread is how far apart callers start who are woken together, of the budget that
// keeps them apart the least; 0: no wait is cut short.
func (p *Policy) Spread() (least time.Duration) {
	for _, b := range p.doc().Budgets {
		if b.Wake == nil {
			continue
		}
		if d := time.Duration(b.Wake.Spread) * time.Microsecond; least == 0 || d < least {
			least = d
		}
	}
	return least
}

func (p *Policy) adjusted(doc *policy.Document, err error) (*Policy, error) {
	if err != nil {
		return nil, policyError(p.Name(), err)
	}
	changed := checked(doc)
	changed.release = p.release
	return changed, nil
}

// ref names the policy in a request: a built-in by its name, a document by its
// digest, which an instance knows once it has met the document.
func (p *Policy) ref() abi.PolicyRef {
	if p.name != "" {
		return abi.PolicyRef{Name: p.name}
	}
	return abi.PolicyRef{Name: p.doc().Digest}
}

// whole is the same with the document itself.
func (p *Policy) whole() abi.PolicyRef {
	if p.name != "" {
		return abi.PolicyRef{Name: p.name}
	}
	return abi.PolicyRef{Document: p.doc().Normal}
}
