package journal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"slices"
	"time"
)

// Entry is what the record of a key says.
type Entry struct {
	ID       string    `json:"id"`
	Key      string    `json:"key,omitempty"` // that the caller gave; "": made from the command line
	State    State     `json:"state"`
	Argv     []string  `json:"argv,omitempty"`
	Dir      string    `json:"dir,omitempty"`
	Target   string    `json:"target,omitempty"`
	Began    time.Time `json:"began"`
	Ended    time.Time `json:"ended,omitzero"`
	Attempts int       `json:"attempts"`
	Outcome  string    `json:"outcome,omitempty"`
	ExitCode *int64    `json:"exit_code,omitempty"`
	By       string    `json:"settled_by,omitempty"`
	Damage   string    `json:"damage,omitempty"`

	Stdout []byte `json:"-"`
	Stderr []byte `json:"-"`
	Cut    bool   `json:"output_cut,omitempty"` // not all of the output was kept

	line, idempotencyKey, boot string
	sinceBoot                  time.Duration
}

// Name is what a person calls the write.
func (e *Entry) Name() string {
	if e.Key != "" {
		return fmt.Sprintf("the journal's key %s", e.Key)
	}
	return "this command line (" + e.ID + ")"
}

func newEntry(id string, records []record, damage error) Entry {
	e := Entry{ID: id, State: stateOf(records)}
	for i := range records {
		e.add(&records[i])
	}
	if damage != nil {
		e.State, e.Damage = Damaged, damage.Error()
	}
	return e
}

func (e *Entry) add(r *record) {
	at, _ := time.Parse(time.RFC3339, r.Time) // for people
	switch r.Record {
	case aRun:
		e.Key, e.Argv, e.Dir, e.Target, e.Began, e.Ended = r.Key, r.Argv, r.Dir, r.Target, at, time.Time{}
		e.Outcome, e.ExitCode = "", nil
		e.line = r.Line
		if r.IdempotencyKey != e.idempotencyKey || e.boot == "" { // the key's age counts from its first run
			e.idempotencyKey, e.boot, e.sinceBoot = r.IdempotencyKey, r.Boot, time.Duration(r.BootUS)*time.Microsecond
		}
	case anAttempt:
		e.Attempts++
	case anEnd:
		e.ExitCode = r.ExitCode
	case anOutcome:
		e.Ended, e.Outcome, e.ExitCode = at, r.Outcome, r.ExitCode
		e.Stdout, e.Stderr = r.Stdout.bytes(), r.Stderr.bytes()
		e.Cut = r.Stdout != nil && r.Stdout.Cut || r.Stderr != nil && r.Stderr.Cut
	case aVerdict:
		e.Ended, e.By = at, r.By
	}
}

// isOpen says that the last run has not come to an end that is certain.
func (e *Entry) isOpen() bool { return e.State == InDoubt || e.Outcome == "" }

// isHonoured says that the server still knows the idempotency key of a run in
// doubt, by a clock that nobody can set.
func (e *Entry) isHonoured(what *What) bool {
	boot, since := sinceBoot()
	return e.idempotencyKey != "" && boot != "" && boot == e.boot && since-e.sinceBoot >= 0 && since-e.sinceBoot < what.Honoured
}

// age is how old a settled record is: by the clock that nobody can set where
// both ends are known by it, else by the time of day.
func (e *Entry) age() time.Duration {
	if boot, since := sinceBoot(); boot != "" && boot == e.boot {
		return since - e.sinceBoot
	}
	return time.Since(e.Ended)
}

func (e *Entry) isSettled() bool { return e.State == Applied || e.State == NotApplied }

// look reads a record without waiting for anybody.
func (j *Journal) look(id string) (Entry, error) {
	path := j.path(id)
	file, err := openFile(path, false)
	if err != nil {
		return Entry{}, err
	}
	defer file.Close()
	free, err := tryLock(file)
	if err != nil {
		return Entry{}, err
	}
	if free {
		defer unlock(file)
	}
	text, err := readAll(file)
	if err != nil {
		return Entry{ID: id, State: Damaged, Damage: err.Error()}, nil
	}
	records, _, damage := parse(text)
	e := newEntry(id, records, damage)
	if !free {
		e.State = UnderWay
	}
	return e, nil
}

// List is all records, the oldest run first.
func (j *Journal) List() ([]Entry, error) {
	ids, err := j.ids()
	if err != nil {
		return nil, fmt.Errorf("outlast: the journal %s: %w", j.dir, plain(err))
	}
	var entries []Entry
	for _, id := range ids {
		e, err := j.look(id)
		if isMissing(err) {
			continue // its run has just ended
		}
		if err != nil {
			e = Entry{ID: id, State: Damaged, Damage: plain(err).Error()}
		}
		entries = append(entries, e)
	}
	slices.SortStableFunc(entries, func(a, b Entry) int { return a.Began.Compare(b.Began) })
	return entries, nil
}

// ErrNoRecord says that the journal has no record of a key.
var ErrNoRecord = errors.New("there is no such record")

// Show is the record of a key, which is given or a record's name.
func (j *Journal) Show(name string) (Entry, error) {
	key, err := keyFor(name)
	if err != nil {
		return Entry{}, err
	}
	e, err := j.look(key.id)
	if isMissing(err) {
		err = ErrNoRecord
	}
	if err != nil {
		return Entry{}, fmt.Errorf("outlast: the journal %s: %s: %w", j.dir, name, plain(err))
	}
	return e, nil
}

// Settle says what a person has found out of a write in doubt: from then on a
// given key is answered as applied, or runs again.
func (j *Journal) Settle(name string, applied bool) (Entry, error) {
	key, err := keyFor(name)
	if err != nil {
		return Entry{}, err
	}
	file, err := lockRecord(context.Background(), j.path(key.id), false, false, nil)
	switch {
	case isMissing(err):
		err = ErrNoRecord
	case errors.Is(err, errHeld):
		err = errors.New("its run is under way: wait for its end")
	}
	if err != nil {
		return Entry{}, fmt.Errorf("outlast: the journal %s: %s: %w", j.dir, name, plain(err))
	}
	defer file.Close()
	defer unlock(file)
	return j.settle(file, key.id, applied)
}

func (j *Journal) settle(file *os.File, id string, applied bool) (Entry, error) {
	failed := func(err error) error { return fmt.Errorf("outlast: settling %s: %w", id, plain(err)) }
	text, err := readAll(file)
	if err != nil {
		return Entry{}, failed(err)
	}
	records, good, damage := parse(text)
	e := newEntry(id, records, damage)
	if e.isSettled() {
		return e, failed(fmt.Errorf("it is not in doubt but %s", e.State))
	}
	verdict := record{Record: aVerdict, Applied: &applied, By: who()}
	add := []record{verdict}
	if damage != nil { // what cannot be read gives way to what a person says
		good = 0
		head := record{Record: aRun, V: version, Key: e.Key, Argv: e.Argv, Line: e.line, Dir: e.Dir, Target: e.Target}
		add = []record{head, verdict}
	}
	if err := file.Truncate(int64(good)); err != nil {
		return e, failed(err)
	}
	if err := j.append(file, true, failed, add...); err != nil {
		return e, err
	}
	e = newEntry(id, append(records[:len(records):len(records)], add...), nil)
	if id[0] == 'l' { // it would only block
		_ = os.Remove(j.path(id))
	}
	return e, nil
}

func who() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return fmt.Sprint(os.Getuid())
}
