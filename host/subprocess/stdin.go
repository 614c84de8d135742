package subprocess

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Stdin is a standard input that every attempt of a call reads from its
// beginning, whatever the attempts before have read of it.
//
//   - A file is sought back to where it stood when NewStdin was called.
//   - A terminal, the null device and any other device is handed on as it is.
//   - A pipe or socket is copied into a private temporary file, no faster than
//     the attempt reads it (a pipe's capacity and 32 KiB ahead at most). The
//     next attempt gets the copy and then the rest.
//
// Where that cannot be done, the next attempt is refused: no attempt ever gets
// less input than the one before.
type Stdin struct {
	file  *os.File
	kind  stdinKind
	start int64 // of a file

	spool  *os.File // of a pipe: what was read of it; nil before the first byte
	length int64    // of the spool
	ended  bool     // the pipe has ended
	lost   error    // why the input cannot be given again
}

type stdinKind int

const (
	handedOn stdinKind = iota
	terminal
	seekable
	piped
)

// NewStdin makes f the standard input of a call's attempts. f stays open and
// is the caller's to close, after Close. Nothing is read before an attempt.
func NewStdin(f *os.File) (*Stdin, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("outlast: looking at standard input: %w", err)
	}
	s := &Stdin{file: f, kind: handedOn}
	switch mode := info.Mode(); {
	case mode.IsRegular(), mode&fs.ModeDevice != 0 && mode&fs.ModeCharDevice == 0:
		s.kind = seekable
		if s.start, err = f.Seek(0, io.SeekCurrent); err != nil {
			return nil, fmt.Errorf("outlast: finding the place in standard input: %w", err)
		}
	case mode&(fs.ModeNamedPipe|fs.ModeSocket) != 0:
		s.kind = piped
	case mode&fs.ModeCharDevice != 0 && isTerminal(f):
		s.kind = terminal
	}
	return s, nil
}

func (s *Stdin) isTerminal() bool { return s != nil && s.kind == terminal }

// attach prepares the input of the next attempt.
func (s *Stdin) attach() (*feed, error) {
	if s == nil {
		return &feed{}, nil
	}
	switch s.kind {
	case seekable:
		if _, err := s.file.Seek(s.start, io.SeekStart); err != nil {
			return nil, fmt.Errorf("going back to the start of standard input: %w", plain(err))
		}
	case piped:
		if s.lost != nil {
			return nil, fmt.Errorf("standard input cannot be given again: %w", s.lost)
		}
		return s.attachPipe()
	}
	return &feed{child: s.file}, nil
}

// Close removes the copy of a pipe's input.
func (s *Stdin) Close() error {
	if s == nil || s.spool == nil {
		return nil
	}
	err := s.spool.Close()
	s.spool, s.lost = nil, errors.New("it was closed")
	return err
}
