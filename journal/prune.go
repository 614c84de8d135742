package journal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"
)

// makeRoom sees that there is room for one more record. Of a full journal the
// settled records that are older than Options.Keep go, the oldest first; those
// in doubt never do.
func (j *Journal) makeRoom() error {
	ids, err := j.ids()
	if err != nil {
		return fmt.Errorf("outlast: the journal %s: %w", j.dir, plain(err))
	}
	if len(ids) < j.options.MaxRecords {
		return nil
	}
	// A tenth at once, so that not every write has to read all records.
	removed, err := j.prune(j.options.Keep, max(1, j.options.MaxRecords/10)+len(ids)-j.options.MaxRecords)
	if err != nil {
		return err
	}
	if len(ids)-len(removed) >= j.options.MaxRecords {
		return &FullError{len(ids), j.dir}
	}
	return nil
}

// Prune removes settled records that are at least so old, and says which. Their
// keys are then free: a write with one of them runs.
func (j *Journal) Prune(age time.Duration) ([]Entry, error) { return j.prune(age, -1) }

// prune removes at most so many; -1: all.
func (j *Journal) prune(age time.Duration, most int) (removed []Entry, err error) {
	entries, err := j.List()
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(entries, func(a, b Entry) int { return a.Ended.Compare(b.Ended) })
	for _, e := range entries {
		if len(removed) == most {
			break
		}
		if !e.isSettled() || e.age() < age {
			continue
		}
		gone, err := j.remove(e.ID, age)
		if err != nil {
			return removed, err
		}
		if gone {
			removed = append(removed, e)
		}
	}
	return removed, nil
}

// remove removes a record if, under its lock, it is still one that may go.
func (j *Journal) remove(id string, age time.Duration) (gone bool, err error) {
	path := j.path(id)
	file, err := lockRecord(context.Background(), path, false, false, nil)
	if isMissing(err) || errors.Is(err, errHeld) {
		return false, nil
	}
	if err == nil {
		defer file.Close()
		defer unlock(file)
		var text []byte
		if text, err = readAll(file); err == nil {
			records, _, damage := parse(text)
			e := newEntry(id, records, damage)
			if !e.isSettled() || e.age() < age {
				return false, nil
			}
			err = os.Remove(path)
		}
	}
	if err != nil {
		return false, fmt.Errorf("outlast: removing the journal's record %s: %w", path, plain(err))
	}
	return true, nil
}
