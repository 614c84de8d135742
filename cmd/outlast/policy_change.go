package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"outlast/cmd/outlast/internal/cases"
	"outlast/cmd/outlast/internal/difference"
	"outlast/cmd/outlast/internal/exit"
	"outlast/cmd/outlast/internal/library"
	"outlast/cmd/outlast/internal/safetext"
	"outlast/cmd/outlast/internal/words"
	"outlast/cmd/outlast/internal/wrap"
	"outlast/followed"
)

type policyDiffVerb struct {
	A    string `arg:"" placeholder:"NAME|FILE" help:"A policy by its name, or a file."`
	B    string `arg:"" placeholder:"NAME|FILE" help:"Another."`
	JSON bool   `name:"json" help:"Print one JSON array."`
}

// Help is shown below the flags.
func (*policyDiffVerb) Help() string {
	return "Exits with 0 if they are equal; with 1 if windows, backoff or wake differ, or words; with 4 if what is repeated does, which a host that follows A would refuse of B."
}

// Run says in what B differs from A.
func (v *policyDiffVerb) Run() error {
	a, err := library.Load(v.A)
	if err != nil {
		return err
	}
	b, err := library.Load(v.B)
	if err != nil {
		return err
	}
	list := difference.Of(a.Document(), b.Document())
	err = toStdout(func(w io.Writer) error {
		if v.JSON {
			return json.NewEncoder(w).Encode(append([]difference.Difference{}, list...))
		}
		for _, d := range list {
			fmt.Fprintln(w, words.Choose(d.Repeats, "! ", "  ")+safetext.Line(d.Text))
		}
		return nil
	})
	switch repeats := len(difference.Repeats(list)); {
	case err != nil || len(list) == 0:
		return err
	case repeats > 0:
		return &exit.Error{Code: exit.CodeRepeats, Err: fmt.Errorf("what is repeated differs, in %s (!)", words.Count(repeats, "point"))}
	}
	return &exit.Error{Code: exit.CodeNotSo}
}

type policyTestVerb struct {
	wrap.PluginFlags
	Dir  string `arg:"" type:"existingdir" help:"The folder with the cases, in files *.json."`
	JSON bool   `name:"json" help:"Print one JSON array."`
}

// Help is shown below the flags.
func (*policyTestVerb) Help() string {
	return "Exits with 1 if a policy does something else than a case expects, and with 3 if a file is faulty."
}

// Run tries the cases of a folder.
func (v *policyTestVerb) Run(ctx context.Context) error {
	files, faults, err := cases.Read(v.Dir)
	for _, fault := range faults {
		fmt.Fprintln(os.Stderr, safetext.Line(fault))
	}
	switch {
	case err != nil:
		return exit.Unusable(err)
	case len(faults) > 0:
		return exit.Unusable(fmt.Errorf("%s has %s", v.Dir, words.Count(len(faults), "fault")))
	}
	plug, err := v.OpenPlugin()
	if err != nil {
		return err
	}
	defer plug.Close(ctx)
	list := []cases.Verdict{}
	for i := range files {
		some, err := files[i].Try(ctx, plug)
		if err != nil {
			return exit.Unusable(err)
		}
		list = append(list, some...)
	}
	return v.tell(list)
}

func (v *policyTestVerb) tell(list []cases.Verdict) error {
	bad := 0
	for _, c := range list {
		if !c.OK {
			bad++
		}
	}
	err := toStdout(func(w io.Writer) error {
		if v.JSON {
			return json.NewEncoder(w).Encode(list)
		}
		for _, c := range list {
			fmt.Fprintf(w, "%s  %s: %s\n", words.Choose(c.OK, "ok  ", "FAIL"), safetext.Line(c.File), safetext.Line(c.Case))
			for _, f := range c.Faults {
				fmt.Fprintln(w, "      "+safetext.Line(f))
			}
		}
		return nil
	})
	if err != nil || bad == 0 {
		return err
	}
	return &exit.Error{Code: exit.CodeNotSo, Err: fmt.Errorf("%d of %s not as expected", bad, words.Count(len(list), "case"))}
}

type policySealVerb struct {
	Policy  string         `arg:"" placeholder:"FILE" help:"The policy document."`
	Serial  int64          `required:"" placeholder:"N" help:"The release's number: higher than that of any before."`
	Expires *time.Duration `placeholder:"DURATION" help:"How long it may be taken (default: for ever)."`
}

// Run prints the envelope.
func (v *policySealVerb) Run() error {
	if _, err := library.Load(v.Policy); err != nil {
		return err
	}
	text, err := os.ReadFile(v.Policy)
	if err != nil {
		return exit.Unusable(err)
	}
	envelope, err := followed.Seal(string(text), v.Serial, time.Now(), v.Expires)
	if err != nil {
		return exit.Usage("policy seal: %v", err)
	}
	_, err = stdout.Write(envelope)
	return err
}
