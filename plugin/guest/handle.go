package main

import (
	"runtime"

	"outlast/abi"
	"outlast/abi/strictjson"
	"outlast/plugin/policy"
)

// enveloped is what an export answers to an input. A panic becomes an error of
// code internal, after which the host throws the instance away.
func enveloped(export func(string) ([]byte, error), input string) (answer []byte) {
	defer func() {
		if fault := recover(); fault != nil {
			answer = abi.EncodeError(&abi.Error{Code: abi.CodeInternal, Message: "panic: " + faultText(fault)})
		}
	}()
	answer, err := export(input)
	if err != nil {
		return abi.EncodeError(err)
	}
	return answer
}

func faultText(fault any) string {
	switch f := fault.(type) {
	case error:
		return f.Error()
	case string:
		return f
	}
	return "of an unknown kind"
}

func describe(string) ([]byte, error) {
	d := abi.Description{ABI: abi.Version{Major: abi.Major, Minor: abi.Minor, Patch: abi.Patch}, Version: abi.Release, Build: runtime.Version()}
	for _, name := range policy.Names() {
		doc, err := policy.BuiltIn(name)
		if err != nil {
			return nil, err
		}
		d.Policies = append(d.Policies, abi.BuiltIn{Name: name, Digest: doc.Digest})
	}
	return d.Encode(), nil
}

func check(input string) ([]byte, error) {
	doc, err := policy.Parse(input)
	if err != nil {
		return nil, err
	}
	return abi.EncodeChecked(doc.Normal, doc.Digest), nil
}

func decide(input string) ([]byte, error) {
	r, err := abi.DecodeDecide(input)
	if err != nil {
		return nil, err
	}
	doc, err := find(&r.Policy)
	if err != nil {
		return nil, err
	}
	action, state, err := policy.Decide(doc, &r.Call, r.State, &r.Event, r.Explain)
	if err != nil {
		return nil, err
	}
	return abi.EncodeDecision(&action, state), nil
}

// known are the documents that this instance has parsed, by digest, so that a
// host can name one instead of sending it again.
var known = map[string]*policy.Document{}

// maxKnown bounds them (a choice); beyond it all are forgotten, and hosts send
// theirs again when they are told that a digest is unknown.
const maxKnown = 16

func find(ref *policyRef) (*policy.Document, error) {
	if ref.Document == "" {
		if doc := known[ref.Name]; doc != nil {
			return doc, nil
		}
		return policy.BuiltIn(ref.Name)
	}
	doc, err := policy.ParseWithin(ref.Document)
	if err != nil {
		return nil, under("policy", err)
	}
	if len(known) >= maxKnown {
		clear(known)
	}
	known[doc.Digest] = doc
	return doc, nil
}

type policyRef = abi.PolicyRef

// under puts a field's path in front of an error's.
func under(path string, err error) error {
	e, ok := err.(*abi.Error)
	if !ok {
		return err
	}
	moved := *e
	moved.Field = strictjson.Join(path, e.Field)
	moved.Faults = nil
	for _, f := range e.Faults {
		moved.Faults = append(moved.Faults, strictjson.Fault{Field: strictjson.Join(path, f.Field), Message: f.Message})
	}
	return &moved
}
