package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"outlast/abi/schema"
	"outlast/cmd/outlast/internal/exit"
	"outlast/cmd/outlast/internal/library"
	"outlast/cmd/outlast/internal/words"
	"outlast/host"
)

type policyVerb struct {
	List    policyListVerb    `cmd:"" help:"List the policies that can be named."`
	Show    policyShowVerb    `cmd:"" help:"Print a policy document."`
	Check   policyCheckVerb   `cmd:"" help:"Check a policy document, and list all of its faults."`
	Schema  policySchemaVerb  `cmd:"" help:"Print the JSON Schema of policy documents."`
	Diff    policyDiffVerb    `cmd:"" help:"Say in words how two policies differ."`
	Test    policyTestVerb    `cmd:"" help:"Try a policy with recorded failures and outages, of which each says what is expected."`
	Seal    policySealVerb    `cmd:"" help:"Put a policy into the envelope in which it is published, for signing."`
	Pull    policyPullVerb    `cmd:"" help:"Fetch a policy for all hosts of this machine, and follow it."`
	Explain policyExplainVerb `cmd:"" help:"Tell what a policy makes of a result, and why."`
}

type policyShowVerb struct {
	Policy string `arg:"" default:"omnigraph" placeholder:"NAME|FILE" help:"A policy by its name, or a file."`
	Full   bool   `help:"Fill in every default."`
}

// Run prints a policy that comes with the tool as its author wrote it, or the
// normal form.
func (v *policyShowVerb) Run() error {
	if text := library.Source(v.Policy); text != "" && !v.Full {
		fmt.Fprint(stdout, text)
		return nil
	}
	p, err := library.Load(v.Policy)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, []byte(p.Document()), "", "  "); err != nil {
		return err
	}
	fmt.Fprintln(stdout, out.String())
	return nil
}

type policyCheckVerb struct {
	Policy string `arg:"" placeholder:"NAME|FILE" help:"A policy by its name, or a file."`
}

// Run lists every fault with its field's path.
func (v *policyCheckVerb) Run() error {
	p, err := library.Load(v.Policy)
	var fault *host.PolicyError
	if errors.As(err, &fault) && len(fault.Err.Faults) > 0 {
		for _, f := range fault.Err.Faults {
			fmt.Fprintln(os.Stderr, f.Error())
		}
		return &exit.Error{Code: exit.CodeUnusable, Err: fmt.Errorf("%s has %s", v.Policy, words.Count(len(fault.Err.Faults), "fault"))}
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%s is a valid policy, digest %s\n", p.Name(), p.Digest())
	return nil
}

type policySchemaVerb struct{}

// Run prints the schema.
func (policySchemaVerb) Run(context.Context) error {
	_, err := stdout.Write(schema.Policy)
	return err
}
