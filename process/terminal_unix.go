//go:build unix

package process

import (
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// hasTerminal says whether this process has a controlling terminal. With one,
// a child stays in this process's group: a shell's job control knows jobs by their
// group, so that Ctrl-C, Ctrl-Z, fg and bg are right only if the child is in
// the group that the shell has made, also in a pipeline. Without one, a child
// leads a group of its own, which a signal reaches as a whole.
var hasTerminal = sync.OnceValue(func() bool {
	tty, err := openTTY()
	if err != nil {
		return false
	}
	syscall.Close(tty)
	return true
})

// inForeground says whether what is typed at the terminal reaches this group.
// Neither this nor anything else here changes the terminal.
func inForeground() bool {
	tty, err := openTTY()
	if err != nil {
		return false
	}
	defer syscall.Close(tty)
	group, err := unix.IoctlGetInt(tty, unix.TIOCGPGRP)
	return err == nil && group == syscall.Getpgrp()
}

func openTTY() (int, error) {
	return syscall.Open("/dev/tty", syscall.O_RDONLY|syscall.O_NOCTTY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
}
