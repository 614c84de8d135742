package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"outlast/cmd/outlast/internal/exit"
	"outlast/cmd/outlast/internal/words"
	"outlast/journal"
)

type journalVerb struct {
	List   journalListVerb   `cmd:"" help:"What is under way, in doubt or settled."`
	Show   journalShowVerb   `cmd:"" help:"The record of one write, with what it printed."`
	Settle journalSettleVerb `cmd:"" help:"Say what you have found out of a write in doubt."`
	Prune  journalPruneVerb  `cmd:"" help:"Remove settled records, whose keys then run again."`
}

// journalDir is where a journal is.
type journalDir struct {
	Journal string `required:"" placeholder:"DIR" env:"OUTLAST_JOURNAL" help:"The journal's directory."`
	JSON    bool   `name:"json" help:"Print JSON."`
}

func (d *journalDir) open() (*journal.Journal, error) {
	j, err := journal.Open(d.Journal, journal.Options{})
	if err != nil {
		return nil, exit.Unusable(err)
	}
	return j, nil
}

type journalListVerb struct {
	journalDir
	InDoubt bool `help:"Only what is in doubt; 1 if there is any."`
}

// Run lists the records, the oldest first.
func (v *journalListVerb) Run() error {
	j, err := v.open()
	if err != nil {
		return err
	}
	entries, err := j.List()
	if err != nil {
		return exit.Unusable(err)
	}
	shown, doubts := []journal.Entry{}, 0
	for _, e := range entries {
		isDoubt := e.State == journal.InDoubt || e.State == journal.Damaged
		if isDoubt {
			doubts++
		}
		if isDoubt || !v.InDoubt {
			shown = append(shown, e)
		}
	}
	if err := toStdout(func(w io.Writer) error { return v.print(w, shown) }); err != nil {
		return err
	}
	if v.InDoubt && doubts > 0 {
		return &exit.Error{Code: exit.CodeNotSo}
	}
	return nil
}

func (v *journalListVerb) print(w io.Writer, entries []journal.Entry) error {
	if v.JSON {
		return json.NewEncoder(w).Encode(entries)
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, e := range entries {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", e.State, e.Began.Local().Format(time.DateTime), e.ID, oneLine(nameOf(&e)))
	}
	return table.Flush()
}

// nameOf is what a person knows the write by.
func nameOf(e *journal.Entry) string {
	if e.Key != "" {
		return "key " + e.Key
	}
	return strings.Join(e.Argv, " ")
}

type journalShowVerb struct {
	journalDir
	Name string `arg:"" placeholder:"KEY|ID" help:"The key, or the record's name from the list."`
}

// Run shows a record.
func (v *journalShowVerb) Run() error {
	j, err := v.open()
	if err != nil {
		return err
	}
	e, err := j.Show(v.Name)
	if err != nil {
		return exit.Unusable(err)
	}
	return toStdout(func(w io.Writer) error { return printEntry(w, &e, v.JSON) })
}

func printEntry(w io.Writer, e *journal.Entry, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(struct {
			*journal.Entry
			Stdout string `json:"stdout,omitempty"`
			Stderr string `json:"stderr,omitempty"`
		}{e, string(e.Stdout), string(e.Stderr)})
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range [][2]string{
		{"record", e.ID}, {"key", e.Key}, {"state", string(e.State)}, {"command", strings.Join(e.Argv, " ")}, {"directory", e.Dir},
		{"target", e.Target}, {"began", e.Began.Local().Format(time.RFC3339)}, {"ended", when(e.Ended)}, {"attempts", fmt.Sprint(e.Attempts)},
		{"outcome", e.Outcome}, {"exit code", number(e.ExitCode)}, {"settled by", e.By}, {"damage", e.Damage},
	} {
		if row[1] != "" {
			fmt.Fprintf(table, "%s\t%s\n", row[0], oneLine(row[1]))
		}
	}
	table.Flush()
	for name, text := range map[string][]byte{"stdout": e.Stdout, "stderr": e.Stderr} {
		if len(text) > 0 {
			fmt.Fprintf(w, "\n%s:\n%s", name, text)
		}
	}
	return nil
}

func when(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format(time.RFC3339)
}

func number(n *int64) string {
	if n == nil {
		return ""
	}
	return fmt.Sprint(*n)
}

type journalSettleVerb struct {
	journalDir
	Name       string `arg:"" placeholder:"KEY|ID" help:"The key, or the record's name from the list."`
	Applied    bool   `xor:"verdict" required:"" help:"It was applied: its key answers so from now on."`
	NotApplied bool   `xor:"verdict" required:"" help:"It was not applied: it may run again."`
}

// Help is what --help adds.
func (journalSettleVerb) Help() string {
	return `A write is in doubt when it may have been applied: its answer was lost, or
outlast was killed while it was under way. Look at the server, then:

    outlast journal list --journal DIR --in-doubt
    outlast journal settle --journal DIR KEY --applied`
}

// Run settles a write in doubt.
func (v *journalSettleVerb) Run() error {
	j, err := v.open()
	if err != nil {
		return err
	}
	e, err := j.Settle(v.Name, v.Applied)
	if err != nil {
		return exit.Unusable(err)
	}
	return toStdout(func(w io.Writer) error {
		if v.JSON {
			return printEntry(w, &e, true)
		}
		_, err := fmt.Fprintf(w, "%s: %s\n", nameOf(&e), e.State)
		return err
	})
}

type journalPruneVerb struct {
	journalDir
	OlderThan time.Duration `default:"720h" placeholder:"DURATION" help:"Only those that ended at least so long ago."`
}

// Run removes settled records.
func (v *journalPruneVerb) Run() error {
	j, err := v.open()
	if err != nil {
		return err
	}
	removed, err := j.Prune(v.OlderThan)
	if err != nil {
		return exit.Unusable(err)
	}
	return toStdout(func(w io.Writer) error {
		if v.JSON {
			return json.NewEncoder(w).Encode(append([]journal.Entry{}, removed...))
		}
		_, err := fmt.Fprintf(w, "removed %s\n", words.Count(len(removed), "record"))
		return err
	})
}
