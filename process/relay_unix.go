//go:build unix

package process

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"outlast/process/atstart"
	"outlast/process/quit"
)

// first are the signals that are passed on from the first attempt on; of the rest,
// a millisecond later, few are ever sent.
var first = []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2}

// catch catches what is passed on, and lets be ignored what was when this process
// began, by the command too.
func (r *Relay) catch() {
	for s := syscall.Signal(1); s <= atstart.Last; s++ {
		if canIgnore(s) && atstart.Ignored(s) {
			signal.Ignore(s)
		}
	}
	r.notify(first...)
	quit.Caught()
	if !hasTerminal() {
		if !atstart.Ignored(syscall.SIGCONT) {
			signal.Notify(r.continued, syscall.SIGCONT)
		}
		r.notify(syscall.SIGTSTP, syscall.SIGWINCH)
	}
}

// catchRest catches what may be caught while the first attempt runs already: a
// child that stopped before is looked at.
func (r *Relay) catchRest() {
	if !atstart.Ignored(syscall.SIGPIPE) {
		signal.Notify(r.pipes, syscall.SIGPIPE)
	}
	signal.Notify(r.signals, syscall.SIGCHLD)
	r.notify(lateSignals()...)
	r.childChanged()
}

// notify asks for those that were not ignored.
func (r *Relay) notify(signals ...syscall.Signal) {
	for _, s := range signals {
		if !atstart.Ignored(s) {
			signal.Notify(r.signals, s)
		}
	}
}

func (r *Relay) handle(s syscall.Signal) {
	switch {
	case s == syscall.SIGCHLD:
		r.childChanged()
	case s == syscall.SIGTSTP && !atstart.Blocked(s):
		r.pause()
	case s == syscall.SIGUSR1, s == syscall.SIGUSR2, s == syscall.SIGTSTP, s == syscall.SIGWINCH, atstart.Blocked(s):
		r.pass(s) // what is blocked waits in the command too, for as long as it likes
	default:
		r.end(s)
	}
}

// isTyped says whether the kernel has sent this signal to the whole group, and so
// to the child too. It does that for what is typed while the group is in the
// foreground. Then, and only then, a signal that another process sends to this one
// alone looks the same.
func isTyped(s syscall.Signal) bool {
	return (s == syscall.SIGINT || s == syscall.SIGQUIT) && hasTerminal() && inForeground()
}

// pause stops the child's group and then this process, unless it was already told
// to go on. What continues this process reaches the group through run.
func (r *Relay) pause() {
	r.pass(syscall.SIGTSTP)
	select {
	case <-r.continued:
		r.pass(syscall.SIGCONT)
	default:
		stopSelf()
	}
}

func stopSelf() { _ = syscall.Kill(os.Getpid(), syscall.SIGSTOP) }

// How long a child must be stopped until this process stops too: a shell that
// continues both wakes this one first. And how long orphans that have ended may
// stay (both are choices).
const (
	stoppedFor = 20 * time.Millisecond
	reapEvery  = time.Second
)

// childChanged follows a child that has stopped by itself, and sees to orphans.
func (r *Relay) childChanged() {
	r.mu.Lock()
	p := r.current
	r.changed = p == nil
	if adopts() && r.reaping == nil {
		r.reaping = time.AfterFunc(reapEvery, r.reap)
	}
	r.mu.Unlock()
	if p == nil || p.gone() || !hasTerminal() || !isStopped(p.pid()) || !inForeground() {
		return
	}
	if time.Sleep(stoppedFor); isStopped(p.pid()) {
		stopSelf()
	}
}

func (r *Relay) reap() {
	r.mu.Lock()
	r.reaping = nil
	r.mu.Unlock()
	reapOrphans()
}

// EndBy ends this process by a signal, without a dump of its memory, so that its
// parent sees it as ended by that signal. As a container's process 1, which no
// signal ends, it exits with 128 and the signal's number. It does not return.
func EndBy(s syscall.Signal) {
	if os.Getpid() != 1 && endDefault(s) {
		_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
		_ = syscall.Kill(os.Getpid(), s)
		time.Sleep(time.Second) // until it is delivered
	}
	os.Exit(128 + int(s))
}
