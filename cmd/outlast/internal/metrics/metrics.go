// Package metrics counts calls in a file in Prometheus' text format, as the
// textfile collector of node_exporter reads it. Runs add to what is there, under
// a lock, so that short ones do not overwrite each other.
//
// The format is written here and not by Prometheus' own library, which brings
// protocol buffers: measured in a program of its own, 4 MB and 1.6 ms at each
// start. It is not read back: a comment in the file has the counts as JSON.
// tests/prometheus reads what is written with that library.
package metrics

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"outlast/abi"
	"outlast/cmd/outlast/internal/progress"
	"outlast/cmd/outlast/internal/safetext"
	"outlast/cmd/outlast/internal/wholefile"
)

// DefaultLockWait is how long a run waits for others that are adding (a choice:
// one takes a few milliseconds, and the command's user is waiting).
const DefaultLockWait = time.Second

// lockPoll is how often it looks (a choice).
const lockPoll = 5 * time.Millisecond

// mode lets node_exporter read the file, as whoever it runs.
const mode = 0o644

// maxFile bounds what is read, in bytes (a choice: several times what a full
// file has).
const maxFile = 16 << 20

// suffix is that of the files that the textfile collector reads.
const suffix = ".prom"

// Options say what is counted and where.
type Options struct {
	Path     string        // ends in ".prom"; "": nowhere
	Policy   string        // the policy's name
	Serial   int64         // of a policy that is followed; 0: it is not
	Command  string        // of which the base name is told
	LockWait time.Duration // 0: DefaultLockWait

	// Progress is the call's, which takes its events.
	Progress *progress.State

	// Tell is told why this run is not counted. nil: nobody is.
	Tell func(format string, args ...any)
}

// Recorder counts one call. It is for one goroutine at a time.
type Recorder struct {
	options Options
	target  string // "": nothing is counted
	over    bool
}

// Open says what is wrong with the file's place, before the command runs.
func Open(o Options) (*Recorder, error) {
	r := &Recorder{options: o}
	if o.Path == "" {
		return r, nil
	}
	if !strings.HasSuffix(o.Path, suffix) || filepath.Base(o.Path) == suffix {
		return nil, fmt.Errorf("--metrics-file: expected a name that ends in %s, which node_exporter reads, not %s", suffix, o.Path)
	}
	target, err := wholefile.Target(o.Path)
	if err != nil {
		return nil, fmt.Errorf("--metrics-file: %w", err)
	}
	r.target = target
	return r, nil
}

// Finish adds the call to the file; a second time it does nothing. The outcome
// is nil where the call came to none. Whatever goes wrong is told and nothing
// more: the call matters more, and a file that cannot be read is left as it is.
func (r *Recorder) Finish(o *abi.Outcome) {
	if r.target == "" || r.over {
		return
	}
	r.over = true
	if err := r.addToFile(r.call(o)); err != nil && r.options.Tell != nil {
		r.options.Tell("--metrics-file: %v; this run is not counted", err)
	}
}

func (r *Recorder) call(o *abi.Outcome) call {
	s := r.options.Progress
	c := call{
		labels: labels{
			Command: safetext.Line(filepath.Base(r.options.Command)), Policy: r.options.Policy, Kind: "none", Outcome: "error",
		},
		attempts: int64(len(s.Attempts)), waitUS: s.Waited().Microseconds(), at: time.Now().Unix(), serial: r.options.Serial,
	}
	if d, ok := s.Outage(); ok {
		us := d.Microseconds()
		c.outageUS = &us
	}
	switch {
	case o != nil:
		c.Outcome = string(o.Type)
		if o.Kind != "" {
			c.Kind = o.Kind
		}
	case len(s.Attempts) == 0:
		c.Outcome = "not_run"
	}
	return c
}

func (r *Recorder) addToFile(c call) error {
	unlock, err := r.lock()
	if err != nil {
		return err
	}
	defer unlock()
	counts, err := read(r.target)
	if err != nil {
		return err
	}
	counts.add(c)
	text, err := format(counts)
	if err != nil {
		return err
	}
	return wholefile.Replace(r.target, text, mode)
}

// lock takes the lock of the file. The lock's own file stays: a lock that is
// removed can be held twice.
func (r *Recorder) lock() (unlock func() error, err error) {
	wait := r.options.LockWait
	if wait == 0 {
		wait = DefaultLockWait
	}
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	lock := flock.New(r.target+".lock", flock.SetPermissions(mode))
	if _, err := lock.TryLockContext(ctx, lockPoll); err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("another run has held its lock for %v", wait)
		}
		return nil, fmt.Errorf("%s: %w", r.options.Path, err)
	}
	return lock.Unlock, nil
}

// read reads the file; one that is not there, or empty, counts nothing yet.
func read(path string) (*counts, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return newCounts(), nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("it is longer than %d bytes", maxFile)
	}
	if err == nil {
		var c *counts
		if c, err = parse(string(text)); err == nil {
			return c, nil
		}
	}
	return nil, fmt.Errorf("%s is damaged, or was written by something else: %w", path, err)
}
