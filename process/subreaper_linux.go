package process

import (
	"fmt"
	"os"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"outlast/process/procfs"
)

var subreaper atomic.Bool

// BecomeSubreaper makes this process the parent of every orphan among its
// descendants (PR_SET_CHILD_SUBREAPER), so that an attempt that is ended takes
// with it also what has left its process group, with setsid(2) or by forking
// twice. Without it, these are found only while their ancestors live. It is the
// whole process's, and so is the caller's to choose; a Relay then reaps the
// orphans that end.
//
// Linux only; elsewhere it gives errors.ErrUnsupported and an attempt's group
// is all that is ended.
func BecomeSubreaper() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("outlast: becoming the parent of orphans: %w", err)
	}
	subreaper.Store(true)
	return nil
}

// adopts says whether orphans become this process's children; in a container they
// become those of process 1.
func adopts() bool { return subreaper.Load() || os.Getpid() == 1 }

// reapOrphans waits for the children that have ended and that nobody in this
// program will wait for.
func reapOrphans() {
	if !adopts() {
		return
	}
	self := os.Getpid()
	waited := waitedFor()
	for _, c := range procfs.All() {
		if c.Parent == self && c.State == 'Z' && !running.has(c.PID) && !waited[c.PID] {
			reap(c.PID)
		}
	}
}

func reap(pid int) {
	for {
		if _, err := syscall.Wait4(pid, nil, syscall.WNOHANG, nil); err != syscall.EINTR {
			return
		}
	}
}
