//go:build unix

package subprocess

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// feed gives one attempt its standard input. Its zero value gives none, and
// its methods do nothing for nil.
type feed struct {
	child *os.File // what the child reads; nil: the null device

	stdin         *Stdin   // of a pipe; nil: child is not ours
	pipe          *os.File // our end of child
	wake, wakeEnd *os.File // a pipe that is closed to end the feeding
	running       bool
	over          chan struct{} // closed when nothing is fed any more
}

func (s *Stdin) attachPipe() (*feed, error) {
	f := &feed{stdin: s, over: make(chan struct{})}
	var err error
	if f.child, f.pipe, err = os.Pipe(); err != nil {
		return nil, err
	}
	if f.wake, f.wakeEnd, err = os.Pipe(); err != nil {
		f.child.Close()
		f.pipe.Close()
		return nil, err
	}
	return f, nil
}

// start is called when the child runs and has its end of the pipe.
func (f *feed) start() {
	if f == nil || f.stdin == nil {
		return
	}
	f.child.Close()
	f.running = true
	go f.run()
}

// stop ends the feeding and waits for that. What was read from the pipe and
// not yet by the child stays in the spool, for the next attempt.
func (f *feed) stop() {
	if f == nil || f.stdin == nil {
		return
	}
	f.wakeEnd.Close()
	f.pipe.Close() // ends a write that nobody reads
	if f.running {
		<-f.over
	} else {
		f.child.Close()
	}
	f.wake.Close()
}

func (f *feed) run() {
	defer close(f.over)
	defer f.pipe.Close() // the child's end of input
	if f.replay() {
		f.follow()
	}
}

// replay gives what earlier attempts were given, and says whether the child
// took it.
func (f *feed) replay() bool {
	s := f.stdin
	if s.spool == nil {
		return true
	}
	_, err := io.Copy(f.pipe, io.NewSectionReader(s.spool, 0, s.length))
	if err != nil && !gone(err) {
		s.lost = err // the copy could not be read: this attempt has had too little
	}
	return err == nil
}

// follow passes on what comes, and keeps it first.
func (f *feed) follow() {
	s := f.stdin
	buf := make([]byte, 32<<10)
	for !s.ended {
		n, err := f.next(buf)
		if n == 0 {
			if err == nil {
				return // woken
			}
			s.ended = true
			if err != io.EOF {
				s.lost = fmt.Errorf("reading it: %w", err)
			}
			return
		}
		if s.lost == nil {
			s.keep(buf[:n])
		}
		if _, err := f.pipe.Write(buf[:n]); err != nil {
			return // the child reads no more, or is gone
		}
	}
}

// next reads what comes next. 0 without an error means that the feeding ends.
// It waits without reading, so that nothing is taken from the pipe after the
// attempt, and no read is left behind.
func (f *feed) next(buf []byte) (n int, err error) {
	source, err := f.stdin.file.SyscallConn()
	if err != nil {
		return 0, err
	}
	wake, err := f.wake.SyscallConn()
	if err != nil {
		return 0, err
	}
	outer := source.Control(func(in uintptr) {
		closed := wake.Control(func(wakeFD uintptr) { n, err = readOrWake(int(in), int(wakeFD), buf) })
		if closed != nil {
			err = closed
		}
	})
	if outer != nil {
		err = outer
	}
	return n, err
}

func readOrWake(in, wake int, buf []byte) (int, error) {
	for {
		fds := []unix.PollFd{{Fd: int32(in), Events: unix.POLLIN}, {Fd: int32(wake), Events: unix.POLLIN}}
		if _, err := unix.Poll(fds, -1); err != nil {
			if err == syscall.EINTR {
				continue
			}
			return 0, err
		}
		if fds[1].Revents != 0 {
			return 0, nil
		}
		n, err := unix.Read(in, buf)
		switch {
		case n > 0:
			return n, nil
		case err == nil:
			return 0, io.EOF
		case err != syscall.EINTR && err != syscall.EAGAIN:
			return 0, err
		}
	}
}

// gone says that the child's end of the pipe, or ours, is closed.
func gone(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, os.ErrClosed)
}

// isTerminal asks for the window's size, which only a terminal has.
func isTerminal(f *os.File) bool {
	raw, err := f.SyscallConn()
	if err != nil {
		return false
	}
	answers := false
	err = raw.Control(func(fd uintptr) {
		_, err := unix.IoctlGetWinsize(int(fd), unix.TIOCGWINSZ)
		answers = err == nil
	})
	return err == nil && answers
}
