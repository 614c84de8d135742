//go:build unix

package process

import (
	"os"

	"golang.org/x/sys/unix"
)

// canRead is false for what was opened for writing only.
func canRead(f *os.File) bool {
	return answers(f, func(fd int) bool {
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
		return err == nil && flags&unix.O_ACCMODE != unix.O_WRONLY
	})
}

// isStream is false for a socket of messages, and for one that listens.
func isStream(f *os.File) bool {
	return answers(f, func(fd int) bool {
		kind, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE)
		if err != nil || kind != unix.SOCK_STREAM {
			return false
		}
		listens, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ACCEPTCONN)
		return err != nil || listens == 0 // macOS does not tell
	})
}

// answers asks about a descriptor, and changes nothing about it: File.Fd would
// make it a blocking one for everybody who shares it.
func answers(f *os.File, ask func(fd int) bool) bool {
	yes := false
	raw, err := f.SyscallConn()
	if err == nil {
		err = raw.Control(func(fd uintptr) { yes = ask(int(fd)) })
	}
	return err == nil && yes
}
