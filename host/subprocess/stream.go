package subprocess

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"outlast/abi"
)

// How much of an output is held back, and for how long after its first byte,
// before it is passed on while the attempt runs. Both are choices: a report of
// an error is far shorter, and a failure that is worth a retry comes soon.
const (
	holdBytes = abi.MaxTextBytes
	holdTime  = 2 * time.Second
)

// stream is one output of an attempt: read from the child's pipe, kept for the
// policy, and held back or passed on to the user. Memory is bounded, and a
// user who reads slowly slows the child down.
type stream struct {
	name   string
	source *os.File
	out    io.Writer     // nil: nobody wants it
	done   chan struct{} // closed when all is read and passed on

	mu    sync.Mutex // guards what follows
	got   capture
	live  bool // passed on as it comes
	ended bool // the attempt is over: nothing goes live any more
	timer *time.Timer
	err   error // the first that out gave

	writing sync.Mutex // held while out is written to; taken before mu
}

func newStream(name string, source *os.File, out io.Writer) *stream {
	return &stream{name: name, source: source, out: out, done: make(chan struct{})}
}

// read reads the pipe to its end.
func (s *stream) read() {
	defer close(s.done)
	buf := make([]byte, 32<<10)
	for {
		n, err := s.source.Read(buf)
		if n > 0 && !s.take(buf[:n]) {
			break
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			s.drain(buf)
			break
		}
		if err != nil {
			break
		}
	}
	s.source.Close()
	s.finish()
}

// expectEnd is called when the process is gone: what it wrote is in the pipe,
// and the pipe ends, unless another process holds it.
func (s *stream) expectEnd() {
	// Windows has no deadlines for pipes: there the end is waited for. Closing
	// the pipe instead could lose what the process wrote.
	_ = s.source.SetReadDeadline(time.Now().Add(leftoverWait))
}

// take gets the next bytes, and says whether to go on.
func (s *stream) take(p []byte) bool {
	s.mu.Lock()
	offset := s.got.total
	s.got.add(p)
	if s.out == nil {
		s.mu.Unlock()
		return true
	}
	if !s.live && s.got.total <= holdBytes {
		if s.timer == nil {
			s.timer = time.AfterFunc(holdTime, s.release)
		}
		s.mu.Unlock()
		return true
	}
	var held []byte
	if !s.live {
		held = s.got.first[:offset]
	}
	s.live = true
	s.mu.Unlock()

	s.writing.Lock()
	defer s.writing.Unlock()
	return s.put(held) && s.put(p)
}

// release passes on what is held; what comes after it is live.
func (s *stream) release() {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.mu.Lock()
	if s.ended || s.live {
		s.mu.Unlock()
		return
	}
	s.live = true
	held := s.got.first
	s.mu.Unlock()
	s.put(held)
}

// put writes to out, unless that has failed before. A reader who is gone ends
// the child as it would in a pipeline: with the pipe closed at our side, the
// child's next write gets SIGPIPE. The caller holds writing.
func (s *stream) put(p []byte) bool {
	s.mu.Lock()
	failed := s.err != nil
	s.mu.Unlock()
	if failed || len(p) == 0 {
		return !failed
	}
	n, err := s.out.Write(p)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	if err == nil {
		return true
	}
	s.mu.Lock()
	s.err = fmt.Errorf("outlast: writing the command's %s: %w", s.name, err)
	s.mu.Unlock()
	s.source.Close()
	return false
}

// finish ends the holding, after any writing that is under way.
func (s *stream) finish() {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.end()
}

func (s *stream) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	if s.timer != nil {
		s.timer.Stop()
	}
}

// abandon leaves a stream whose out takes nothing: the attempt was cancelled
// and shall not wait for it.
func (s *stream) abandon() {
	s.end()
	s.source.Close()
}

func (s *stream) text() abi.Text {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.got.text()
}

// streamed says whether some of the output has gone to the user.
func (s *stream) streamed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live
}

func (s *stream) commit() error {
	s.mu.Lock()
	held := s.got.first
	if s.live {
		held = nil
	}
	s.got.first = nil
	s.mu.Unlock()
	if s.out != nil && len(held) > 0 {
		s.writing.Lock()
		s.put(held)
		s.writing.Unlock()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

func (s *stream) discard() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.got = capture{}
}
