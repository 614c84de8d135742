package process

import (
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"outlast/process/atstart"
)

// canIgnore is false for the signals that Go's runtime needs for itself, or that
// the C library does (32 to 34). A command gets the default of these.
func canIgnore(s syscall.Signal) bool {
	switch s {
	case unix.SIGKILL, unix.SIGSTOP, unix.SIGSEGV, unix.SIGBUS, unix.SIGFPE, unix.SIGILL, unix.SIGTRAP, unix.SIGSYS, unix.SIGCHLD, unix.SIGURG, unix.SIGPROF, unix.SIGSTKFLT, 32, 33, 34:
		return false
	}
	return true
}

// lateSignals are all others that by default end a program: what a caller's alarm(2)
// or a limit on the processor's time sends, and whatever kill(1) can. Without those
// that cannot be caught. A SIGXFSZ can be about a file that this process writes, where
// there is a limit.
func lateSignals() []syscall.Signal {
	late := []syscall.Signal{
		unix.SIGILL, unix.SIGTRAP, unix.SIGABRT, unix.SIGBUS, unix.SIGFPE, unix.SIGSEGV, unix.SIGALRM,
		unix.SIGXCPU, unix.SIGVTALRM, unix.SIGIO, unix.SIGPWR, unix.SIGSYS,
	}
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_FSIZE, &limit) == nil && limit.Cur == unix.RLIM_INFINITY {
		late = append(late, unix.SIGXFSZ)
	}
	for s := syscall.Signal(35); s <= atstart.Last; s++ {
		late = append(late, s)
	}
	return late
}

// endDefault gives the signal its default effect, which os/signal does not for all,
// and says whether it could.
func endDefault(s syscall.Signal) bool {
	var action [4]uint64 // a struct kernel_sigaction: SIG_DFL, no flags
	_, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(s), uintptr(unsafe.Pointer(&action)), 0, 8, 0, 0)
	return errno == 0
}

// asAtStart calls f, which starts a process, with the signals blocked that were when
// this one began: Go unblocks some of them for itself.
func asAtStart(f func() error) error {
	if atstart.Mask() == 0 {
		return f()
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	now, then := unix.Sigset_t{}, unix.Sigset_t{}
	*(*uint64)(unsafe.Pointer(&then)) = atstart.Mask()
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &then, &now); err != nil {
		return err
	}
	defer unix.PthreadSigmask(unix.SIG_SETMASK, &now, nil)
	return f()
}
