// Package aside writes what nobody shall have to wait for: whoever reads it, or
// does not, or a disk that hangs, holds up neither a wait nor an attempt nor a
// signal.
//
// What is written comes out in its order, and before the writer goes on as long as
// that takes no time. Else it waits in a queue, which is bounded: what does not
// fit is dropped, and counted.
package aside

import (
	"errors"
	"io"
	"sync"
	"time"
)

const (
	// grace is how long a write is waited for that finds nothing before it, so that
	// lines keep their order with what others write to the same place (a choice: a
	// pipe or a disk that takes it does so in microseconds).
	grace = 50 * time.Millisecond
	// room bounds the queue, in bytes (a choice: some hundred lines).
	room = 64 << 10
	// AtExit is how long a process waits at its end for what is not written yet (a
	// choice).
	AtExit = time.Second
)

// ErrSlow is the error of what took too long.
var ErrSlow = errors.New("it takes too long")

// Writer writes to another. Its methods may be called by several goroutines.
type Writer struct {
	out  io.Writer
	note func(lost int) []byte // what is written where some were dropped; nil: nothing

	mu    sync.Mutex
	queue [][]byte
	size  int           // of the queue, in bytes
	lost  int           // writes that were dropped and not noted
	idle  chan struct{} // closed when all is written; nil: it is
	late  bool          // nobody waits for what is in the queue
	err   error         // the first
}

// New is a Writer to out.
func New(out io.Writer, note func(lost int) []byte) *Writer { return &Writer{out: out, note: note} }

// Write takes b, all of it or nothing. The error is the first of out's, of this
// write or of one before.
func (w *Writer) Write(b []byte) (int, error) {
	w.mu.Lock()
	if w.size+len(b) > room && w.idle != nil {
		w.lost++
		w.mu.Unlock()
		return len(b), nil
	}
	w.queue, w.size = append(w.queue, append([]byte(nil), b...)), w.size+len(b)
	if w.idle == nil {
		w.idle = make(chan struct{})
		go w.run(w.idle)
	}
	idle, late := w.idle, w.late
	w.mu.Unlock()
	if !late && !within(idle, grace) {
		w.mu.Lock()
		w.late = w.idle == idle
		w.mu.Unlock()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(b), w.err
}

// run writes until the queue is empty.
func (w *Writer) run(idle chan struct{}) {
	for {
		w.mu.Lock()
		if len(w.queue) == 0 && w.lost > 0 && w.note != nil {
			note := w.note(w.lost)
			w.queue, w.size, w.lost = [][]byte{note}, len(note), 0
		}
		if len(w.queue) == 0 {
			w.queue, w.size, w.idle, w.late = nil, 0, nil, false
			close(idle)
			w.mu.Unlock()
			return
		}
		b := w.queue[0]
		w.mu.Unlock()
		_, err := w.out.Write(b)
		w.mu.Lock()
		w.queue, w.size = w.queue[1:], w.size-len(b)
		if w.err == nil {
			w.err = err
		}
		w.mu.Unlock()
	}
}

// Flush waits until all is written, d at most. It says how many writes were not,
// or were dropped and not noted, and gives the first error.
func (w *Writer) Flush(d time.Duration) (lost int, err error) {
	w.mu.Lock()
	idle := w.idle
	w.mu.Unlock()
	if idle != nil {
		within(idle, d)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.queue) + w.lost, w.err
}

func within(done <-chan struct{}, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}

// Do waits for f, d at most, and then leaves it alone: the error is ErrSlow.
func Do[T any](d time.Duration, f func() (T, error)) (T, error) {
	var value, none T
	var err error
	done := make(chan struct{})
	go func() {
		value, err = f()
		close(done)
	}()
	if !within(done, d) {
		return none, ErrSlow
	}
	return value, err
}
