package outages

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// nth is one of many outages of one target.
func nth(n int) Outage {
	o := watched()
	shift := time.Duration(n) * time.Hour
	o.Name = fmt.Sprintf("restart %d", n)
	move := func(s Span) Span { return Span{s.From.Add(shift), s.To.Add(shift)} }
	o.Down, o.Up = o.Down.Add(shift), o.Up.Add(shift)
	d := *o.Details
	d.DownBetween, d.UpBetween = move(d.DownBetween), move(d.UpBetween)
	tcp, http := move(*d.TCP), move(*d.HTTP)
	d.TCP, d.HTTP, d.Phases = &tcp, &http, nil
	o.Details = &d
	return o
}

func mustOpen(t *testing.T, path string) *File {
	t.Helper()
	f, err := OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func mustRead(t *testing.T, path string) []Outage {
	t.Helper()
	list, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestAppend(t *testing.T) {
	path := filepath.Join(t.TempDir(), "outages.json")
	f := mustOpen(t, path)
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Error("opening it made it")
	}
	for n := range 3 {
		if added, err := f.Append([]Outage{nth(n)}); err != nil || added != 1 {
			t.Fatal(added, err)
		}
	}
	if list := mustRead(t, path); len(list) != 3 || list[2].Name != "restart 2" {
		t.Errorf("%+v", list)
	}
	if added, err := f.Append([]Outage{nth(1), nth(5)}); err != nil || added != 1 {
		t.Errorf("one that is there: %d, %v", added, err)
	}
	clash := nth(7)
	clash.Name = "restart 1"
	if _, err := f.Append([]Outage{clash}); err != nil {
		t.Fatal(err)
	}
	if list := mustRead(t, path); len(list) != 5 || list[4].Name != "restart 1 (2)" {
		t.Errorf("%+v", list)
	}
	before, _ := os.ReadFile(path)
	overlap := nth(1)
	overlap.Up, overlap.Duration = overlap.Up.Add(time.Second), overlap.Duration+time.Second
	overlap.Details.UpBetween.To = overlap.Up
	if added, err := f.Append([]Outage{overlap}); err == nil || added != 0 || !strings.Contains(err.Error(), "measured[5]") {
		t.Errorf("%d, %v", added, err)
	}
	if after, _ := os.ReadFile(path); string(after) != string(before) {
		t.Error("a refused outage changed the file")
	}
	entries, _ := os.ReadDir(filepath.Dir(path))
	if len(entries) != 2 {
		t.Errorf("left behind: %v", entries)
	}
}

func TestWhatCannotBeAppendedTo(t *testing.T) {
	dir := t.TempDir()
	other := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(other, []byte("my notes"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, os.DevNull, filepath.Join(dir, "no", "folder"), other} {
		if _, err := OpenFile(path); err == nil {
			t.Errorf("%s can be appended to", path)
		}
	}
	if text, _ := os.ReadFile(other); string(text) != "my notes" {
		t.Errorf("it holds %q", text)
	}
	// One that went bad meanwhile is left as it is.
	good := filepath.Join(dir, "outages.json")
	f := mustOpen(t, good)
	if err := os.WriteFile(good, []byte(`{"version": 2}`), 0o600); err != nil {
		t.Fatal(err)
	}
	var faults *Error
	if _, err := f.Append([]Outage{nth(0)}); !errors.As(err, &faults) {
		t.Error(err)
	}
	if text, _ := os.ReadFile(good); string(text) != `{"version": 2}` {
		t.Errorf("it holds %q", text)
	}
}

func TestAnEmptyFileAndALink(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "outages.json"), filepath.Join(dir, "link")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("outages.json", link); err != nil {
		t.Skip(err)
	}
	if _, err := mustOpen(t, link).Append([]Outage{nth(0)}); err != nil {
		t.Fatal(err)
	}
	if to, err := os.Readlink(link); err != nil || to != "outages.json" {
		t.Errorf("the link is gone: %v", err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 || len(mustRead(t, path)) != 1 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// Several that append at a time lose nothing of each other.
func TestAppendTogether(t *testing.T) {
	path := filepath.Join(t.TempDir(), "outages.json")
	var group sync.WaitGroup
	for writer := range 4 {
		f := mustOpen(t, path)
		group.Go(func() {
			for n := range 5 {
				if added, err := f.Append([]Outage{nth(10*writer + n)}); err != nil || added != 1 {
					t.Errorf("%d, %v", added, err)
				}
			}
		})
	}
	group.Wait()
	if list := mustRead(t, path); len(list) != 20 {
		t.Errorf("%d outages", len(list))
	}
}

// Who holds the lock for ever is told of, and the file stays as it is.
func TestHeldLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "outages.json")
	f := mustOpen(t, path)
	unlock, err := f.lock()
	if err != nil {
		t.Fatal(err)
	}
	defer func(d time.Duration) { lockWait = d }(lockWait)
	lockWait = 50 * time.Millisecond
	if added, err := f.Append([]Outage{nth(0)}); err == nil || added != 0 || !strings.Contains(err.Error(), "another program has held "+path+".lock for 50ms") {
		t.Errorf("%d, %v", added, err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	lockWait = time.Minute
	if added, err := f.Append([]Outage{nth(0)}); err != nil || added != 1 {
		t.Errorf("%d, %v", added, err)
	}
}
