package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"outlast/cmd/outlast/internal/exit"
	"outlast/measure"
	"outlast/outages"
)

// An outage that the file does not take is tried again with the next, and
// printed at the end: it is never in memory only.
func TestKeeperLosesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.json")
	keep, err := (&measureVerb{Append: path}).keeper()
	if err != nil {
		t.Fatal(err)
	}
	var printed bytes.Buffer
	keep.out = &printed
	outage := func(name string) outages.Outage { return outages.Outage{Name: name, Duration: time.Second} }
	spoil := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	spoil(`{"version": 2}`)
	if keep.add(outage("a")) == nil || len(keep.held) != 1 {
		t.Error("it was added to a file of another version")
	}
	spoil("")
	if err := keep.add(outage("b")); err != nil || len(keep.held) != 0 {
		t.Errorf("%v, %v", err, keep.held)
	}
	if list, err := outages.Read(path); err != nil || len(list) != 2 {
		t.Errorf("%v, %v", err, list)
	}
	spoil(`{"version": 2}`)
	keep.add(outage("c"))
	keep.add(outage("d"))
	if err := keep.finish(); exitCode(err) != exit.CodeUnusable || !strings.Contains(err.Error(), "printed instead") {
		t.Error(err)
	}
	if list, err := outages.Parse(printed.String()); err != nil || len(list) != 2 || list[1].Name != "d" {
		t.Errorf("%v: %s", err, printed.String())
	}
}

// One outage that a file refuses does not keep the others out.
func TestKeeperGoesOnWithTheOthers(t *testing.T) {
	keep, err := (&measureVerb{Append: filepath.Join(t.TempDir(), "out.json")}).keeper()
	if err != nil {
		t.Fatal(err)
	}
	var printed bytes.Buffer
	keep.out = &printed
	if keep.add(outages.Outage{Name: "too long", Duration: 2 * outages.MaxDuration}) == nil {
		t.Error("it was added")
	}
	if keep.add(outages.Outage{Name: "good", Duration: time.Second}) == nil || len(keep.held) != 1 || keep.held[0].Name != "too long" {
		t.Errorf("%+v", keep.held)
	}
	if err := keep.finish(); err == nil || !strings.Contains(err.Error(), "too long, for 1488h0m0s") {
		t.Error(err)
	}
	if list, err := outages.Parse(printed.String()); err != nil || len(list) != 0 {
		t.Errorf("%v: %s", err, printed.String())
	}
}

// The defaults that the help tells are those of the package.
func TestMeasureDefaults(t *testing.T) {
	var c cli
	parser, err := newParser(&c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parse(parser, []string{"measure", "tcp://graph:1"}); err != nil {
		t.Fatal(err)
	}
	w, err := c.Measure.watcher(rawArgs{"measure", "tcp://graph:1"})
	if err != nil || w.Every != measure.DefaultEvery || w.Hold != measure.DefaultHold || w.Timeout != measure.DefaultTimeout {
		t.Errorf("%v, %+v", err, w)
	}
	c.Measure.Target = []string{"true"}
	if w, err = c.Measure.watcher(rawArgs{"measure", "--", "true"}); err != nil || w.Timeout != measure.DefaultCommandTimeout {
		t.Errorf("%v, %+v", err, w)
	}
}
