//go:build unix

package show

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const drawsLines = true

// inForeground says whether the terminal is this tool's at the moment: not while it
// is a job in the background. A terminal that is not its controlling one knows no
// jobs.
func inForeground(f *os.File) bool {
	group, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP)
	return err != nil || int(int32(group)) == unix.Getpgrp()
}

// controls says whether the terminal is the one that stops and continues this process.
func controls(f *os.File) bool {
	_, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP)
	return err == nil
}

// takesOutput says whether a write would return at once.
func takesOutput(f *os.File) bool {
	fds := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLOUT}}
	n, err := unix.Poll(fds, 0)
	return err != nil || n > 0
}

// stopTime is how long it may take until this process is stopped (a choice).
const stopTime = time.Second

// handleSignals redraws the line when the terminal's size changes, and takes it
// away before Ctrl-Z stops this process.
func (p *Printer) handleSignals() (end func()) {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGWINCH)
	stops := make(chan os.Signal, 1)
	if controls(p.options.Out) && !signal.Ignored(syscall.SIGTSTP) {
		signal.Notify(stops, syscall.SIGTSTP)
	}
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-signals:
				p.tick()
			case <-stops:
				p.suspend()
			case <-done:
				return
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		signal.Stop(stops)
		close(done)
	}
}

// suspend stops this process as SIGTSTP would without the handler, with the line
// out of the way. Go cannot give SIGTSTP its default action back. SIGTTIN has it,
// with the same exception: where no shell could continue the process, it does not stop.
func (p *Printer) suspend() {
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	p.mu.Lock()
	defer p.mu.Unlock() // nothing is drawn until the process goes on
	p.line.erase()
	_ = unix.Kill(unix.Getpid(), unix.SIGTTIN)
	select {
	case <-continued:
	case <-time.After(stopTime):
	}
	p.draw()
}
