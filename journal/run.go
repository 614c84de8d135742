package journal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// Run is a write that is under way. Its methods are for one goroutine at a time.
type Run struct {
	journal        *Journal
	key            Key
	file           *os.File
	start          int64 // where this run's records begin
	isNew          bool  // the file had nothing that must last
	head           record
	idempotencyKey string
	over           bool
}

// IdempotencyKey is the key to send with every attempt: that of the record where
// an earlier run has not come to its end, else the one that was given to Begin.
func (r *Run) IdempotencyKey() string { return r.idempotencyKey }

// ID is the record's name.
func (r *Run) ID() string { return r.key.id }

// File is the record's open file, which holds the lock. A process that inherits
// it keeps the record locked for as long as it lives, even if this one is killed.
func (r *Run) File() *os.File { return r.file }

// Attempt must be called before attempt n, from 1: when it comes back without an
// error, the disk has that the attempt began. With an error the attempt must not
// be made.
func (r *Run) Attempt(n int64) error {
	err := r.append(true, record{Record: anAttempt, Attempt: n})
	if err == nil && r.isNew {
		r.isNew = false
		err = syncDir(r.journal.dir, &r.journal.options)
	}
	return err
}

// Ended notes how attempt n ended. none says that there is evidence that it had
// no effect; without it the attempt stays in doubt. It may be called again when
// more is known.
func (r *Run) Ended(n int64, none bool, exitCode *int64, signal string) error {
	effects := effectsUnknown
	if none {
		effects = effectsNone
	}
	return r.append(false, record{Record: anEnd, Attempt: n, Effects: effects, ExitCode: exitCode, Signal: signal})
}

// End is how a run ended.
type End struct {
	Outcome     string // ok, or another word of the contract's
	EffectsNone bool   // nothing was applied, by evidence
	ExitCode    *int64
	Stdout      []byte // of a given key, up to MaxOutput bytes are kept
	Stderr      []byte
	StdoutCut   bool // there was more of it
	StderrCut   bool
}

// Finish writes how the run ended, waits until it is on disk, and gives the lock
// up. After an error the write stays in doubt. The record of a made key whose end
// is certain is removed, since a made key never answers a rerun.
func (r *Run) Finish(e End) error {
	if r.over {
		return nil
	}
	defer r.giveUp()
	end := record{Record: anOutcome, Outcome: e.Outcome, Effects: effectsUnknown, ExitCode: e.ExitCode}
	if e.EffectsNone || e.Outcome == outcomeOK {
		end.Effects = effectsNone
	}
	if e.Outcome == outcomeOK {
		end.Effects = "" // it was applied
	}
	if r.key.IsGiven() && e.Outcome == outcomeOK {
		o := &r.journal.options
		end.Stdout, end.Stderr = o.output(e.Stdout, e.StdoutCut), o.output(e.Stderr, e.StderrCut)
	}
	err := r.append(true, end)
	if err != nil && (end.Stdout != nil || end.Stderr != nil) { // how it ended matters more than its output
		end.Stdout, end.Stderr = &output{Cut: true}, &output{Cut: true}
		err = r.append(true, end)
	}
	if err != nil {
		return fmt.Errorf("%w; the write stays in doubt until somebody looks, and says so with %s --applied, or --not-applied", err, Command(r.journal.dir, "settle", r.key.id))
	}
	return nil
}

// Close gives the lock up and leaves the record as it stands. After Finish it
// does nothing.
func (r *Run) Close() {
	if !r.over {
		r.giveUp()
	}
}

// giveUp gives the lock up, whoever else has the file open, and removes a record
// that says nothing.
func (r *Run) giveUp() {
	r.over = true
	if text, err := readAll(r.file); err == nil {
		records, _, damage := parse(text)
		if damage == nil && (len(records) == 0 || !r.key.IsGiven() && stateOf(records) != InDoubt) {
			_ = os.Remove(r.journal.path(r.key.id)) // it can stay, too
		}
	}
	unlock(r.file)
	r.file.Close()
}

// append writes records with one call, or takes back what it wrote of them.
func (r *Run) append(sync bool, records ...record) error {
	return r.journal.append(r.file, sync, r.failed, records...)
}

func (r *Run) failed(err error) error {
	return fmt.Errorf("outlast: writing the journal's record %s: %w", r.journal.path(r.key.id), plain(err))
}

func (j *Journal) append(file *os.File, sync bool, failed func(error) error, records ...record) error {
	now := time.Now().UTC().Format(time.RFC3339Nano)
	for i := range records {
		records[i].Time = now
	}
	text, err := lines(records...)
	if err != nil {
		return failed(err)
	}
	end, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return failed(err)
	}
	if end+int64(len(text)) > maxFile {
		return failed(fmt.Errorf("it would be longer than %d bytes", maxFile))
	}
	if _, err = file.WriteAt(text, end); err == nil && sync && !j.options.NoSync {
		err = file.Sync()
	}
	if err != nil {
		return failed(errors.Join(err, file.Truncate(end)))
	}
	return nil
}
