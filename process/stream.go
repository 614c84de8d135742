package process

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
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

// promptTime is how long a line must stand unfinished to be taken for a question
// (a choice: longer than a program takes between two parts of a line, and short
// for a person).
const promptTime = 100 * time.Millisecond

// stream is one output of an attempt: read from the child's pipe, kept for the
// policy, and held back or passed on to the user. Memory is bounded, and a
// user who reads slowly slows the child down.
type stream struct {
	name   string
	source *os.File
	out    io.Writer // nil: nobody wants it
	asks   bool      // somebody may be asked something there
	order  *order    // with the other stream; nil: they go apart

	mu     sync.Mutex // guards what follows
	got    capture
	last   time.Time // when it last got something
	busy   bool      // it is passing that on
	live   bool      // passed on as it comes
	ended  bool      // the attempt is over: nothing goes live any more
	timer  *time.Timer
	prompt *time.Timer // runs while an unfinished line stands
	err    error       // the first that out gave
	broken bool        // for which the child's pipe was closed; not: by a reader who is gone
	cut    bool        // another process held the pipe in the end
	carry  bool        // who then holds it is not cut off
	left   *os.File    // the pipe, for whoever carries on

	writing sync.Mutex // held while out is written to; taken before mu
}

func newStream(name string, source *os.File, out io.Writer) *stream {
	return &stream{name: name, source: source, out: out}
}

// read reads the pipe to its end.
func (s *stream) read() {
	buf := make([]byte, 32<<10)
	for {
		n, err := s.source.Read(buf)
		if n > 0 && !s.take(buf[:n]) {
			break
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			s.cutOff(s.drain(buf))
			break
		}
		if err != nil {
			break
		}
	}
	if !s.leave() {
		s.source.Close()
	}
	s.finish()
}

// leave keeps the pipe for whoever carries on, where another process holds it and
// shall not be cut off.
func (s *stream) leave() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cut && s.carry && s.err == nil {
		s.left, s.cut = s.source, false
	}
	return s.left != nil
}

// expectHolders is called when who still holds the pipe may keep it.
func (s *stream) expectHolders() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.carry = true
}

// takeLeft is the pipe that another process holds, once.
func (s *stream) takeLeft() *os.File {
	s.mu.Lock()
	defer s.mu.Unlock()
	left := s.left
	s.left = nil
	return left
}

// expectEnd is called when the process is gone: what it wrote is in the pipe,
// and the pipe ends, unless another process holds it.
func (s *stream) expectEnd() {
	// Windows has no deadlines for pipes: there the end is waited for. Closing
	// the pipe instead could lose what the process wrote.
	_ = s.source.SetReadDeadline(time.Now().Add(leftoverWait))
}

// passedOn notes that a write is over, which counts as if something came.
func (s *stream) passedOn() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last, s.busy = time.Now(), false
}

// quiet is for how long nothing has come.
func (s *stream) quiet() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy { // what comes meanwhile is not seen
		return 0
	}
	return time.Since(s.last)
}

// take gets the next bytes, and says whether to go on.
func (s *stream) take(p []byte) bool {
	s.mu.Lock()
	s.last = time.Now()
	s.order.note(s, len(p))
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
		s.watchPrompt()
		s.mu.Unlock()
		return true
	}
	var held []byte
	if !s.live {
		held = s.got.first[:offset]
	}
	s.live, s.busy = true, true
	s.mu.Unlock()
	defer s.passedOn()

	s.writing.Lock()
	defer s.writing.Unlock()
	return s.put(held) && s.put(p)
}

// watchPrompt passes on what is held once its last line has stood unfinished
// for a while. A line with a carriage return is no question but a progress
// display, such as curl's. The caller holds mu.
func (s *stream) watchPrompt() {
	if !s.asks {
		return
	}
	line := s.got.first[bytes.LastIndexByte(s.got.first, '\n')+1:]
	switch asked := len(line) > 0 && bytes.IndexByte(line, '\r') < 0; {
	case asked && s.prompt == nil:
		s.prompt = time.AfterFunc(promptTime, s.release)
	case asked:
		s.prompt.Reset(promptTime)
	case s.prompt != nil:
		s.prompt.Stop()
	}
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
// the child as it would in a pipeline: with the pipe closed at this side, the
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
	s.err = fmt.Errorf("outlast: writing the command's %s: %w", s.name, plain(err))
	s.broken = !s.ended && !errors.Is(err, syscall.EPIPE)
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
	for _, t := range []*time.Timer{s.timer, s.prompt} {
		if t != nil {
			t.Stop()
		}
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

func (s *stream) isBroken() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.broken
}

func (s *stream) cutOff(held bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cut = held
}

func (s *stream) isCut() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cut
}

func (s *stream) commit() error {
	held := s.takeHeld()
	if s.out != nil && len(held) > 0 {
		s.writing.Lock()
		s.put(held)
		s.writing.Unlock()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// takeHeld gives what nobody has seen yet.
func (s *stream) takeHeld() (held []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.live {
		held = s.got.first
	}
	s.got.first = nil
	return held
}

func (s *stream) discard() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.got = capture{}
}
