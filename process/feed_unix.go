//go:build unix

package process

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// pipeInput is a pipe or socket and what attempts have taken of it.
type pipeInput struct {
	source source // nil before the first attempt
	spool  spool
	ended  bool // an attempt has come to its end
}

func (p *pipeInput) close() error {
	if p.source != nil {
		p.source.close()
		p.source = nil
	}
	return p.spool.close()
}

// pump feeds one attempt through a pipe. It goes step by step: a portion is put
// into the child's pipe, which is made to hold just that, and the next follows
// when the child has taken it, so that it is known at any time how much that
// was. A child that takes whole portions gets larger ones.
type pump struct {
	stdin   *Stdin
	portion int    // how many pages are given at once
	again   []byte // room for a second look
	// The child's pipe. Its read end stays open here too: what is left in it
	// after the attempt is what the child did not take.
	child *ownPipe
	// Its write end is closed to end the feeding.
	wake   *ownPipe
	broken *flag // the input failed
	over   chan struct{}
}

// page is how much is on its way to the child at first: the least that a pipe
// can hold on Linux, and so what one can see being taken.
var page = os.Getpagesize()

// maxPortion is the most pages that are on their way at once: what a pipe holds
// by default on Linux, and so what can be seen of most inputs at a time. A power
// of two, as pipes have it.
const maxPortion = 16

// errStopped ends the feeding with the attempt.
var errStopped = errors.New("the attempt is over")

func (s *Stdin) attachPipe(broken *flag) (*feed, error) {
	p := &pump{stdin: s, portion: 1, broken: broken, over: make(chan struct{})}
	if err := p.open(); err != nil {
		p.close()
		return nil, err
	}
	f := &feed{child: p.child.read, broken: broken}
	f.started = func() { go p.run() }
	f.stopped = func() {
		p.wake.write.Close()
		if f.running {
			<-p.over
		}
		p.close()
	}
	return f, nil
}

func (p *pump) open() (err error) {
	if p.stdin.pipe.source == nil {
		if p.stdin.pipe.source, err = openSource(p.stdin.file); err != nil {
			return err
		}
	}
	if p.child, err = openPipe(); err != nil {
		return err
	}
	resize(p.child, 1)
	if err := unix.SetNonblock(p.child.writeFD, true); err != nil { // the read end stays as a child expects it
		return err
	}
	p.wake, err = openPipe()
	return err
}

func (p *pump) close() {
	p.child.close()
	p.wake.close()
}

// run feeds until the input's end or the attempt's. The descriptor of the real
// input is used as it is, and kept from being closed meanwhile.
func (p *pump) run() {
	defer close(p.over)
	raw, err := p.stdin.file.SyscallConn()
	if err == nil {
		closed := raw.Control(func(fd uintptr) { err = p.feed(int(fd)) })
		err = errors.Join(closed, err)
	}
	switch {
	case err == nil:
		p.child.write.Close() // the child's end of input
	case !errors.Is(err, errStopped):
		p.stdin.lost = err
		p.broken.raise()
	}
}

// feed gives what earlier attempts have taken, and then what comes.
func (p *pump) feed(in int) error {
	buf := make([]byte, maxPortion*page)
	p.again = make([]byte, len(buf))
	if err := p.replay(buf); err != nil {
		return err
	}
	for !p.stdin.pipe.ended {
		if err := p.pass(in, buf); err != nil {
			return err
		}
	}
	return nil
}

func (p *pump) replay(buf []byte) error {
	kept := &p.stdin.pipe.spool
	for at := int64(0); at < kept.size; {
		n, err := kept.readAt(buf[:p.portion*page], at)
		if err != nil {
			return err
		}
		taken, err := p.give(buf[:n])
		if err != nil {
			return err
		}
		at += int64(taken)
	}
	return nil
}

// pass lets the child have what comes next, and takes from the real input what
// the child has taken: kept first, and gone then.
func (p *pump) pass(in int, buf []byte) error {
	n, err := p.next(in, buf[:p.portion*page])
	if err == nil {
		p.stdin.pipe.ended = n == 0
		n, err = p.give(buf[:n])
	}
	taken := buf[:n]
	p.stdin.keep(taken)
	if failed := claim(p.stdin.pipe.source, in, taken, p.again); failed != nil {
		return fmt.Errorf("reading it: %w", failed)
	}
	return err
}

// keep makes what an attempt has taken part of the next one's input. If it
// cannot, the input cannot be given again, but the attempt that runs goes on.
func (s *Stdin) keep(b []byte) {
	if s.lost == nil {
		s.lost = s.pipe.spool.append(b)
	}
}

// next waits for input and looks at it. 0 without an error is the end.
func (p *pump) next(in int, buf []byte) (int, error) {
	for {
		n, err := p.stdin.pipe.source.peek(in, buf)
		if err == nil {
			return n, nil
		}
		if err != unix.EAGAIN {
			return 0, fmt.Errorf("reading it: %w", err)
		}
		if err := p.await(in, unix.POLLIN); err != nil {
			return 0, err
		}
	}
}

// give puts the beginning of b into the child's pipe, waits until the child has
// taken it, and says how much it has taken: if the attempt is over, which is
// errStopped, less than was put in.
func (p *pump) give(b []byte) (taken int, err error) {
	if len(b) == 0 {
		return 0, nil
	}
	b = b[:p.fit(len(b))]
	n, err := uninterrupted(func() (int, error) { return unix.Write(p.child.writeFD, b) })
	if err != nil && err != unix.EAGAIN {
		return 0, fmt.Errorf("giving it: %w", err)
	}
	switch err := p.drained(); err {
	case nil:
		return n, nil
	case errStopped:
		return n - p.takeBack(), err
	default:
		return 0, err
	}
}

// fit makes the child's pipe, which is empty, as large as a portion of n bytes,
// and says how much of them that is: a part of a page, or pages by a power of two.
func (p *pump) fit(n int) int {
	pages := 1
	for 2*pages*page <= min(n, p.portion*page) {
		pages *= 2
	}
	if !resize(p.child, pages) {
		p.portion = 1
		return min(n, page)
	}
	return min(n, pages*page)
}

// The pauses while a child does not read all and its pipe does not tell when it
// is empty (choices: a portion in a tenth of a millisecond at best, and little
// work at last).
const (
	lookEvery   = 50 * time.Microsecond // at first, then twice as long each time
	lookSlowest = 64 * time.Millisecond
)

// drained waits until the child has taken all. A full pipe can be written to
// again when a page of it is read, which a large read has then emptied. From a
// child that reads less, or has enlarged the pipe, somebody has to look; it gets
// smaller portions.
func (p *pump) drained() error {
	for pause := lookEvery; ; pause = min(2*pause, lookSlowest) {
		if err := p.await(p.child.writeFD, unix.POLLOUT); err != nil {
			return err
		}
		empty, err := p.child.empty()
		if empty && pause == lookEvery {
			p.portion = min(2*p.portion, maxPortion)
		}
		if empty || err != nil {
			return err
		}
		if pause == lookEvery {
			p.portion = max(p.portion/2, 1)
		}
		if err := p.rest(pause); err != nil {
			return err
		}
	}
}

// rest waits a while, or less if the attempt ends. poll(2) counts milliseconds.
func (p *pump) rest(pause time.Duration) error {
	if pause < time.Millisecond {
		time.Sleep(pause)
		return nil
	}
	stop := []unix.PollFd{{Fd: int32(p.wake.readFD), Events: unix.POLLIN}}
	return poll(stop, pause)
}

// takeBack empties the child's pipe, so that a process which the child left
// behind cannot read what the next reader of the real input will get. It says
// how much it found.
func (p *pump) takeBack() int {
	p.child.write.Close() // from now on no read waits
	return p.child.discard(make([]byte, page))
}

// await waits until fd is ready, or gives errStopped.
func (p *pump) await(fd int, events int16) error {
	fds := []unix.PollFd{{Fd: int32(p.wake.readFD), Events: unix.POLLIN}, {Fd: int32(fd), Events: events}}
	if err := poll(fds, -1); err != nil {
		return err
	}
	if fds[0].Revents != 0 {
		return errStopped
	}
	return nil
}
