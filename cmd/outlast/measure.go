package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"outlast/abi"
	"outlast/cmd/outlast/internal/exit"
	"outlast/cmd/outlast/internal/safetext"
	"outlast/cmd/outlast/internal/show"
	"outlast/cmd/outlast/internal/words"
	"outlast/measure"
	"outlast/outages"
)

type measureVerb struct {
	Every          time.Duration  `default:"100ms" placeholder:"DURATION" help:"How often to look (default: ${default})."`
	Timeout        *time.Duration `placeholder:"DURATION" help:"How long a look may take (default: 1s, and 10s for a command)."`
	UpFor          time.Duration  `default:"1s" placeholder:"DURATION" help:"How long it must be up for an outage to have ended; what is shorter belongs to it (default: ${default})."`
	Outages        *int           `placeholder:"N" help:"Stop after so many outages."`
	For            *time.Duration `placeholder:"DURATION" help:"Stop after so long."`
	Append         string         `placeholder:"FILE" help:"Add what is measured to this outages file; without it, it is printed at the end."`
	FromKubernetes []string       `sep:"none" placeholder:"FILE" help:"Do not watch: read what kubectl get pods -o json and kubectl get events -o json print. More files may follow; - is standard input."`
	Quiet          bool           `short:"q" help:"Say nothing but errors."`
	Target         []string       `arg:"" optional:"" help:"tcp://host:port, or http(s)://host[:port][/path][#status,…]; or -- and a command that is tried itself, which must change nothing."`
}

// Help is shown below the flags.
func (*measureVerb) Help() string {
	return "An outage begins with the first failed look after a good one and ends with the first good one; " +
		"with each is recorded how exact that is, and in what states the server was. " +
		"Ctrl-C ends the measuring; what was measured is kept."
}

// Run measures, and leaves what was measured in a file or on stdout.
func (v *measureVerb) Run(ctx context.Context, raw rawArgs) error {
	if err := v.check(); err != nil {
		return err
	}
	keep, err := v.keeper()
	if err != nil {
		return err
	}
	printer := show.New(show.Options{Out: os.Stderr, Quiet: v.Quiet})
	defer printer.Close()
	if len(v.FromKubernetes) > 0 {
		err = v.importKubernetes(keep, printer)
	} else {
		err = v.watch(ctx, raw, keep, printer)
	}
	printer.Close()
	if err != nil {
		return err // before anything was measured
	}
	return keep.finish()
}

func (v *measureVerb) check() error {
	switch {
	case v.Outages != nil && *v.Outages < 1:
		return exit.Usage("--outages: expected a number of outages such as 3, not %d", *v.Outages)
	case v.For != nil && *v.For <= 0:
		return exit.Usage("--for: expected a positive duration such as 10m, not %v", *v.For)
	case len(v.FromKubernetes) == 0 && len(v.Target) == 0:
		return exit.Usage("measure: expected a target such as http://graph:8080/healthz, or -- and a command")
	}
	return nil
}

// watcher watches what the command line names.
func (v *measureVerb) watcher(raw rawArgs) (*measure.Watcher, error) {
	w := &measure.Watcher{
		Every: v.Every, Hold: v.UpFor, Timeout: measure.DefaultTimeout,
		Tool: "outlast " + abi.Release,
	}
	w.Host, _ = os.Hostname() // a machine without a name is recorded without one
	switch i := slices.Index(raw, "--"); {
	case i >= 0 && len(raw)-i-1 == len(v.Target):
		w.Timeout = measure.DefaultCommandTimeout
		w.Target.Command = raw[i+1:]
	case len(v.Target) > 1:
		return nil, exit.Usage("measure: expected one target, not %d; a command stands behind --", len(v.Target))
	default:
		var err error
		if w.Target, err = measure.ParseTarget(v.Target[0]); err != nil {
			return nil, exit.Usage("measure: %v", err)
		}
	}
	if v.Timeout != nil {
		w.Timeout = *v.Timeout
	}
	if err := w.Validate(); err != nil {
		return nil, exit.Usage("measure: %v", err)
	}
	return w, nil
}

func (v *measureVerb) watch(ctx context.Context, raw rawArgs, keep *keeper, printer *show.Printer) error {
	w, err := v.watcher(raw)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends this process at once
	if v.For != nil {
		var cancel func()
		ctx, cancel = context.WithTimeout(ctx, *v.For)
		defer cancel()
	}
	found, wanted, name := 0, words.Or(v.Outages, 0), w.Target.String()
	t := &teller{printer: printer, name: name}
	open, err := w.Watch(ctx, func(e measure.Event) {
		var failed error
		if e.Kind == measure.Ended {
			failed = keep.add(*e.Outage) // what is told is on the disk
		}
		t.tell(e)
		if e.Kind != measure.Ended {
			return
		}
		if failed != nil {
			printer.Notice("it is kept for another try: %v", failed)
		}
		if found++; found == wanted {
			stop()
		}
	})
	t.done()
	if err != nil {
		return exit.Usage("measure: %s", safetext.Error(err))
	}
	if open != nil {
		printer.Notice("%s is still away, since %s; an outage that has not ended is not recorded", name, open.Start.UTC().Format(time.RFC3339))
	}
	if wanted > found {
		printer.Notice("%s of %d seen", words.Count(found, "outage"), wanted)
	}
	return nil
}

// teller shows a person, or a log, what becomes of the target.
type teller struct {
	printer *show.Printer
	name    string
	status  func() // takes the last status away
}

func (t *teller) tell(e measure.Event) {
	s := &e.Sample
	switch e.Kind {
	case measure.Present:
		t.show("%s is up", t.name)
	case measure.Absent:
		t.show("%s %s; what comes before it is up is not recorded", t.name, why(s))
	case measure.Down, measure.Changed:
		t.show("%s %s", t.name, why(s))
	case measure.Back:
		t.show("%s is up again after %s", t.name, words.Seconds(e.For))
	case measure.Ended:
		t.done()
		t.printer.Notice("%s", summary(e.Outage))
		if e.Settled {
			t.show("%s is up", t.name)
		}
	case measure.Unusable:
		t.printer.Notice("the clock was set, or this machine slept: what went on meanwhile is not recorded")
	}
}

// why is what was seen, and what it was seen by where that says more.
func why(s *measure.Sample) string {
	if s.State == outages.Refused || s.Why == "" {
		return measure.Words(s.State)
	}
	return measure.Words(s.State) + " (" + s.Why + ")"
}

// show replaces what is shown.
func (t *teller) show(format string, args ...any) {
	t.done()
	t.status = t.printer.Status(format, args...)
}

func (t *teller) done() {
	if t.status != nil {
		t.status()
		t.status = nil
	}
}

// summary is an outage in a line.
func summary(o *outages.Outage) string {
	var phases []string
	for _, p := range o.Details.Phases {
		phases = append(phases, string(p.State)+" "+words.Seconds(p.Duration()))
	}
	const most = 6 // a choice: the file has all
	if n := len(phases); n > most {
		phases = append(phases[:most-1], fmt.Sprintf("and %d phases more", n-most+1))
	}
	return fmt.Sprintf("%s: away for %s, exact to %s (%s)", o.Name, exactly(o.Duration), exactly(o.Resolution()), strings.Join(phases, ", "))
}

// exactly is seconds with milliseconds, which a resolution needs.
func exactly(d time.Duration) string {
	if d < time.Second {
		return d.Round(time.Millisecond).String()
	}
	return words.Seconds(d)
}

func (v *measureVerb) importKubernetes(keep *keeper, printer *show.Printer) error {
	var documents []measure.Document
	for _, name := range append(v.FromKubernetes, v.Target...) {
		if name == "-" {
			documents = append(documents, measure.Document{Name: "standard input", From: os.Stdin})
			continue
		}
		file, err := os.Open(name)
		if err != nil {
			return exit.Usage("--from-kubernetes: %v", err)
		}
		defer file.Close()
		documents = append(documents, measure.Document{Name: name, From: file})
	}
	list, notes, err := measure.FromKubernetes(documents, "outlast "+abi.Release)
	if err != nil {
		return exit.Unusable(err)
	}
	for _, note := range notes {
		printer.Notice("%s", note)
	}
	for i := range list {
		printer.Notice("%s", summary(&list[i]))
	}
	if len(list) == 0 {
		printer.Notice("no outage was found whose beginning and end are known")
	}
	keep.held = list
	return nil
}

// keeper keeps what was measured: in a file, or in memory until the end.
type keeper struct {
	file *outages.File // nil: stdout at the end
	held []outages.Outage
	out  io.Writer
}

// keeper is for --append; a file that cannot take anything is found out now.
func (v *measureVerb) keeper() (*keeper, error) {
	k := &keeper{out: stdout}
	if v.Append == "" {
		return k, nil
	}
	file, err := outages.OpenFile(v.Append)
	if err != nil {
		return nil, exit.Unusable(err)
	}
	k.file = file
	return k, nil
}

// add writes outages, and those that could not be written before, to the file:
// each by itself, since one that the file refuses must not hold up the others.
func (k *keeper) add(list ...outages.Outage) (failed error) {
	k.held = append(k.held, list...)
	if k.file == nil {
		return nil
	}
	var left []outages.Outage
	for _, o := range k.held {
		if _, err := k.file.Append([]outages.Outage{o}); err != nil {
			left, failed = append(left, o), err
		}
	}
	k.held = left
	return failed
}

// finish leaves nothing in memory only: what the file does not take is printed.
func (k *keeper) finish() error {
	failed := k.add()
	if k.file != nil && failed == nil {
		return nil
	}
	list, invalid := printable(k.held)
	text, err := outages.Format(list)
	if err == nil {
		_, err = k.out.Write(text)
	}
	err = errors.Join(err, invalid)
	if failed != nil {
		failed = fmt.Errorf("%w; what it does not have is printed instead", failed)
	}
	if err = errors.Join(failed, err); err != nil {
		return exit.Unusable(err)
	}
	return nil
}

// printable leaves out what no outages file takes, such as one of two months.
func printable(held []outages.Outage) (list []outages.Outage, invalid error) {
	for _, o := range held {
		if _, err := outages.Format([]outages.Outage{o}); err != nil {
			invalid = errors.Join(invalid, fmt.Errorf("%s, for %v: %w", o.Name, o.Duration, err))
			continue
		}
		list = outages.Merge(list, []outages.Outage{o})
	}
	return list, invalid
}
