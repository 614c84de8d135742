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
	"cmp"
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
	"outlast/cmd/outlast/internal/aside"
	"outlast/cmd/outlast/internal/safetext"
	"outlast/cmd/outlast/internal/wholefile"
	"outlast/host"
	"outlast/internal/progress"
	"outlast/internal/telemetry"
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
	Path     string // ends in ".prom"; "": nowhere
	Policy   *host.Policy
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
	call    telemetry.Call
	adds    []addition
}

// addition is what the call does to a metric.
type addition struct {
	metric *telemetry.Metric
	value  float64
	labels []string
}

// Open says what is wrong with the file's place, before the command runs.
func Open(o Options) (*Recorder, error) {
	r := &Recorder{options: o}
	r.call = telemetry.Call{Sink: r.add, Progress: o.Progress}
	if o.Path == "" {
		return r, nil
	}
	if !strings.HasSuffix(o.Path, suffix) || filepath.Base(o.Path) == suffix {
		return nil, fmt.Errorf("--metrics-file: expected a name that ends in %s, which node_exporter reads, not %s", suffix, o.Path)
	}
	target, err := aside.Do(aside.AtExit, func() (string, error) { return wholefile.Target(o.Path) })
	if err != nil {
		return nil, fmt.Errorf("--metrics-file: %w", err)
	}
	r.target = target
	return r, nil
}

// Observe takes the next event, after Progress has it.
func (r *Recorder) Observe(e host.Event) {
	if r.target != "" {
		r.call.Add(e)
	}
}

// add keeps what is added to the file when the call is over.
func (r *Recorder) add(m *telemetry.Metric, value float64, labels ...string) {
	of := []string{r.options.Policy.Name(), safetext.Line(filepath.Base(r.options.Command))}
	r.adds = append(r.adds, addition{m, value, append(of, labels...)})
}

// Finish adds the call to the file; a second time it does nothing. The outcome
// is nil where the call came to none. Whatever goes wrong is told and nothing
// more: the call matters more, and a file that cannot be read is left as it is.
func (r *Recorder) Finish(o *abi.Outcome) {
	if r.target == "" || r.over {
		return
	}
	r.over = true
	r.end(o)
	_, err := aside.Do(r.options.lockWait()+aside.AtExit, func() (any, error) { return nil, r.addToFile() })
	if err != nil && r.options.Tell != nil {
		r.options.Tell("--metrics-file: %v; this run is not counted", err)
	}
}

func (r *Recorder) end(o *abi.Outcome) {
	s := r.options.Progress
	switch {
	case o != nil:
		r.call.End(o, s.Finished)
	case len(s.Attempts) == 0:
		r.add(telemetry.Calls, 1, "not_run", telemetry.NoKind)
	default:
		r.add(telemetry.Calls, 1, "error", telemetry.NoKind)
	}
	if d, ok := s.Outage(); ok {
		r.add(outages, d.Seconds())
	}
	r.call.InForce(r.options.Policy)
	r.add(lastRun, float64(time.Now().Unix()))
}

func (r *Recorder) addToFile() error {
	unlock, err := r.lock()
	if err != nil {
		return err
	}
	defer unlock()
	counts, err := read(r.target)
	if err != nil {
		return err
	}
	r.addTo(counts)
	text, err := format(counts)
	if err != nil {
		return err
	}
	return wholefile.Replace(r.target, text, mode)
}

func (r *Recorder) addTo(c counts) {
	for _, a := range r.adds {
		c.take(a.metric, a.value, a.labels...)
	}
	for _, m := range families { // from the first call on, so that an increase from 0 is seen
		if len(m.Labels) == 0 && m.Type != telemetry.Gauge {
			c.of(m, r.adds[0].labels[:2])
		}
	}
}

func (o *Options) lockWait() time.Duration { return cmp.Or(o.LockWait, DefaultLockWait) }

// lock takes the lock of the file. The lock's own file stays: a lock that is
// removed can be held twice.
func (r *Recorder) lock() (unlock func() error, err error) {
	wait := r.options.lockWait()
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
func read(path string) (counts, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return counts{}, nil
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
		var c counts
		if c, err = parse(string(text)); err == nil {
			return c, nil
		}
	}
	return nil, fmt.Errorf("%s is damaged, or was written by something else: %w", path, err)
}
