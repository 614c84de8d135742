package journal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"outlast/internal/redact"
)

// What is what a record says of a write, for whoever reads it, and how it may
// be repeated.
type What struct {
	Argv   []string // the command line; what is beyond 4 KiB is left out of the record
	Dir    string   // the directory that it runs in
	Target string   // what it goes to, without credentials

	// Repeatable is the caller's word that the write may be applied again: a run
	// in doubt does not keep it from running. One that was applied still answers.
	Repeatable bool

	// IdempotencyKey is sent with each attempt of the write, and Honoured is for
	// how long the server answers a second one with the first's. A run in doubt is
	// repeated with the key of its record, as long as that key is younger than
	// Honoured, by Linux's boot clock, which nobody can set.
	IdempotencyKey string
	Honoured       time.Duration

	// Waiting is called once if another run has the key's lock.
	Waiting func()
}

// InDoubtError refuses a write that may have been applied.
type InDoubtError struct {
	Entry Entry
	Dir   string // of the journal
}

func (e *InDoubtError) Error() string {
	if e.Entry.State == Damaged {
		return fmt.Sprintf("outlast: the record %s cannot be read (%s), so what it says of the write is in doubt: "+
			"look whether it was applied, and say so with %s --applied, or --not-applied", e.Entry.ID, e.Entry.Damage, Command(e.Dir, "settle", e.Entry.ID))
	}
	return fmt.Sprintf("outlast: a run of %s that began at %s may have been applied: look, and say so with "+
		"%s --applied, or --not-applied", e.Entry.Name(), e.Entry.Began.Format(time.RFC3339), Command(e.Dir, "settle", e.Entry.ID))
}

// OtherError refuses a key that was used for another command line.
type OtherError struct {
	Entry Entry
	Dir   string // of the journal
}

func (e *OtherError) Error() string {
	return fmt.Sprintf("outlast: the journal's key %s was used at %s for another command line (%s): "+
		"a key names one write, so give this one another", e.Entry.Name(), e.Entry.Began.Format(time.RFC3339), Command(e.Dir, "show", e.Entry.ID))
}

// FullError says that the journal has no room for another write.
type FullError struct {
	Records int
	Dir     string // of the journal
}

func (e *FullError) Error() string {
	return fmt.Sprintf("outlast: the journal is full: none of its %d records may go. Settle those in doubt "+
		"(%s), or remove settled ones with %s", e.Records, Command(e.Dir, "list", ""), Command(e.Dir, "prune", ""))
}

// Begin waits for the key's lock and says what its record allows. run is the
// write that may now be made. If the write was applied under a given key, run is
// nil, and earlier has its answer. The error is an *InDoubtError where an earlier
// run may have been applied, an *OtherError, a *FullError, or says what is wrong
// with the journal; a cancelled context's is its cause.
func (j *Journal) Begin(ctx context.Context, key Key, what What) (run *Run, earlier *Entry, err error) {
	if key.id == "" {
		return nil, nil, errors.New("outlast: the journal: expected a key from Given or Made")
	}
	file, err := j.lockNew(ctx, key, what.Waiting)
	if err != nil {
		return nil, nil, err
	}
	r := &Run{journal: j, key: key, file: file}
	if earlier, err = r.decide(&what); err != nil || earlier != nil {
		r.giveUp()
		return nil, earlier, err
	}
	return r, nil, nil
}

// lockNew locks the key's record, for which there must be room.
func (j *Journal) lockNew(ctx context.Context, key Key, waiting func()) (*os.File, error) {
	path := j.path(key.id)
	if _, err := os.Lstat(path); isMissing(err) {
		if err := j.makeRoom(); err != nil {
			return nil, err
		}
	}
	file, err := lockRecord(ctx, path, true, true, waiting)
	switch {
	case err == nil:
		return file, nil
	case ctx.Err() != nil && errors.Is(err, context.Cause(ctx)):
		return nil, fmt.Errorf("outlast: waiting for another run of %s: %w", key, err)
	}
	return nil, fmt.Errorf("outlast: the journal's record %s: %w", path, plain(err))
}

// decide reads the record under its lock, and begins the run's.
func (r *Run) decide(what *What) (earlier *Entry, err error) {
	text, err := readAll(r.file)
	if err != nil {
		return nil, r.failed(err)
	}
	records, good, damage := parse(text)
	entry := newEntry(r.key.id, records, damage)
	switch {
	case damage != nil:
		return nil, &InDoubtError{entry, r.journal.dir}
	case entry.line != "" && r.key.IsGiven() && entry.line != digest(what.Argv...):
		return nil, &OtherError{entry, r.journal.dir}
	case entry.State == Applied && r.key.IsGiven():
		return &entry, nil
	case entry.State == InDoubt && !what.Repeatable && !entry.isHonoured(what):
		return nil, &InDoubtError{entry, r.journal.dir}
	}
	r.idempotencyKey = what.IdempotencyKey
	if entry.idempotencyKey != "" && entry.isOpen() {
		r.idempotencyKey = entry.idempotencyKey
	}
	if entry.State != InDoubt {
		good = 0 // what is settled makes room
	}
	r.start, r.isNew = int64(good), good == 0
	r.head = r.describe(what)
	if err := r.file.Truncate(r.start); err != nil {
		return nil, r.failed(err)
	}
	// Written now, so that whoever waits sees who runs; fsynced with the attempt.
	return nil, r.append(false, r.head)
}

// describe is the record of the run.
func (r *Run) describe(what *What) record {
	boot, since := sinceBoot()
	host, _ := os.Hostname()
	head := record{
		Record: aRun, V: version, Key: r.key.given, Argv: r.journal.options.shown(what.Argv), Line: digest(what.Argv...), Dir: what.Dir,
		Target: what.Target, IdempotencyKey: r.idempotencyKey, PID: os.Getpid(), Host: host, Boot: boot, BootUS: since.Microseconds(),
	}
	return head
}

// shown is a command line for people: without secrets, and no longer than a
// record may be.
func (o *Options) shown(argv []string) (list []string) {
	left := maxWhat
	for _, arg := range argv {
		arg = redact.Secrets(arg, o.Secrets)
		if len(arg) > left {
			return append(list, arg[:left]+"…")
		}
		left -= len(arg)
		list = append(list, arg)
	}
	return list
}

func readAll(file *os.File) ([]byte, error) {
	text, err := io.ReadAll(io.NewSectionReader(file, 0, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("it is longer than %d bytes", maxFile)
	}
	return text, err
}
