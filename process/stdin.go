package process

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// StdinMode says what a call's attempts get as their standard input.
type StdinMode string

const (
	// Replay gives every attempt the same input from its beginning. It is the
	// default; the empty mode means it too.
	Replay StdinMode = "replay"
	// Pass hands the descriptor on as it is: the child has the very file, pipe
	// or socket. What an attempt has read of it is gone, so after
	// an attempt that read something, or may have, a further one is refused.
	Pass StdinMode = "pass"
	// None gives the null device.
	None StdinMode = "none"
)

// Stdin is the standard input of a call's attempts. With Replay every attempt
// reads it from its beginning, whatever the attempts before have read of it:
//
//   - A file or a block device is sought back to where it stood when NewStdin
//     was called. The child shares this process's place in it, so after the call
//     it stands where the last attempt left it.
//   - A terminal, the null device and any other device is handed on as it is.
//   - Of a pipe or a stream socket, what an attempt takes is kept: the first
//     64 KiB in memory, the rest in a private temporary file. The next attempt
//     gets that and then what comes. The child reads a pipe made here, into which
//     one memory page at a time is copied. Only what the child has taken out of
//     it is taken from the real input, so that whatever reads that after the
//     call finds all that no attempt has read. (Where a pipe cannot be looked
//     into, which is everywhere but on Linux, a page at most is read ahead, and
//     is lost for such a reader. So is what two programs that read one pipe at
//     the same time would have fought for anyway.)
//   - A socket of another kind, or a pipe on Windows, is handed on, to one
//     attempt only, as Pass does it.
//
// Where an input cannot be given again, the next attempt is refused: no attempt
// ever gets less input than the one before.
type Stdin struct {
	file  *os.File
	kind  stdinKind
	start int64     // the place in a file
	pipe  pipeInput // of what is piped
	lost  error     // why the input cannot be given again
}

type stdinKind int

const (
	nothing   stdinKind = iota
	handedOn            // to every attempt: nothing can be said or done about it
	rewound             // a file: sought back
	unrewound           // a file that is passed on
	piped               // given through a pipe made here
	once                // handed on to one attempt
)

// NewStdin makes f the standard input of a call's attempts. f stays open and
// is the caller's to close, after Close; None needs none. Nothing is read
// before an attempt. The error tells what is wrong with f or the mode.
func NewStdin(f *os.File, mode StdinMode) (*Stdin, error) {
	switch mode {
	case Replay, Pass, "":
	case None:
		return &Stdin{kind: nothing}, nil
	default:
		return nil, fmt.Errorf("outlast: standard input's mode: expected %s, %s or %s, not %q", Replay, Pass, None, mode)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("outlast: looking at standard input: %w", err)
	}
	s := &Stdin{file: f, kind: handedOn}
	switch m := info.Mode(); {
	case m.IsRegular(), m&fs.ModeDevice != 0 && m&fs.ModeCharDevice == 0:
		s.fromPlace(mode)
	case m&(fs.ModeNamedPipe|fs.ModeSocket) != 0 && !canRead(f):
		// Whoever has it can take nothing out of it.
	case m&fs.ModeNamedPipe != 0 && mode != Pass, m&fs.ModeSocket != 0 && mode != Pass && isStream(f):
		s.kind = piped
	case m&(fs.ModeNamedPipe|fs.ModeSocket) != 0:
		s.kind = once
	}
	return s, nil
}

// attach prepares the input of the next attempt; broken is raised if it fails
// while that runs.
func (s *Stdin) attach(broken *flag) (*feed, error) {
	if s == nil || s.kind == nothing {
		return &feed{}, nil
	}
	f, err := s.feed(broken)
	if err != nil {
		return nil, fmt.Errorf("standard input cannot be given again: %w", plain(err))
	}
	return f, nil
}

func (s *Stdin) feed(broken *flag) (*feed, error) {
	if s.lost != nil {
		return nil, s.lost
	}
	switch s.kind {
	case rewound:
		return s.rewind()
	case unrewound:
		return s.stay()
	case piped:
		return s.attachPipe(broken)
	case once:
		return &feed{child: s.file, started: func() { s.lost = errPassed }}, nil
	}
	return &feed{child: s.file}, nil
}

var errPassed = errors.New("an earlier attempt had it as it is, and may have read some of it")

// Close removes the copy of a pipe's input.
func (s *Stdin) Close() error {
	if s == nil || s.lost == errClosed {
		return nil
	}
	if s.kind == piped {
		s.lost = errClosed
	}
	return s.pipe.close()
}

var errClosed = errors.New("it was closed")

// fromPlace is for a file that has a place, which its readers share. Not every
// one that looks like that has it: some files of /proc and /sys are streams.
func (s *Stdin) fromPlace(mode StdinMode) {
	place, err := s.file.Seek(0, io.SeekCurrent)
	switch {
	case err != nil:
		s.kind = once
	case mode == Pass:
		s.kind, s.start = unrewound, place
	default:
		s.kind, s.start = rewound, place
	}
}

// rewind goes back to the start, and if the attempt does not come about, to
// where the last one left the file.
func (s *Stdin) rewind() (*feed, error) {
	place, err := s.file.Seek(0, io.SeekCurrent)
	if err == nil {
		_, err = s.file.Seek(s.start, io.SeekStart)
	}
	if err != nil {
		return nil, err
	}
	f := &feed{child: s.file}
	f.stopped = func() {
		if !f.running {
			s.file.Seek(place, io.SeekStart)
		}
	}
	return f, nil
}

// stay leaves a file where it is, which must be where it was.
func (s *Stdin) stay() (*feed, error) {
	place, err := s.file.Seek(0, io.SeekCurrent)
	if err == nil && place != s.start {
		err = fmt.Errorf("an earlier attempt had it as it is, and moved its place from byte %d to %d", s.start, place)
	}
	if err != nil {
		return nil, err
	}
	return &feed{child: s.file}, nil
}
