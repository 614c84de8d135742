//go:build unix

package subprocess

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"outlast/host/subprocess/quit"
)

// catch catches what is passed on.
func (r *Relay) catch() {
	if signal.Ignored(syscall.SIGINT) {
		signal.Ignore(syscall.SIGQUIT)
	}
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		if !signal.Ignored(s) { // as nohup has it, and a shell for a job in the background
			signal.Notify(r.signals, s)
		}
	}
	quit.Caught()
	signal.Notify(r.signals, syscall.SIGUSR1, syscall.SIGUSR2)
	if !hasTerminal() {
		signal.Notify(r.continued, syscall.SIGCONT)
		signal.Notify(r.signals, syscall.SIGTSTP, syscall.SIGWINCH)
	}
}

// catchRest catches what may be caught while the first attempt runs already: a
// child that stopped before is looked at.
func (r *Relay) catchRest() {
	signal.Notify(r.pipes, syscall.SIGPIPE)
	signal.Notify(r.signals, syscall.SIGCHLD)
	r.childChanged()
}

func (r *Relay) handle(s syscall.Signal) {
	switch s {
	case syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT:
		r.end(s)
	case syscall.SIGTSTP:
		r.pause()
	case syscall.SIGCHLD:
		r.childChanged()
	default:
		r.pass(s)
	}
}

// isTyped says whether the kernel has sent this to all of our group, the child
// with it. It does so for what is typed while we are in the foreground; a
// signal that another process sends to us alone looks the same, and only then.
func isTyped(s syscall.Signal) bool {
	return (s == syscall.SIGINT || s == syscall.SIGQUIT) && hasTerminal() && inForeground()
}

// pause stops the child's group and then us, unless we were already told to go
// on. What continues us reaches the group through run.
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

// How long a child must be stopped until we stop too: a shell that continues
// us both wakes us first. And how long orphans that have ended may stay (both
// are choices).
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

// EndBy ends this process by SIGINT, SIGTERM or SIGHUP, so that its parent sees
// it as ended by that signal. By SIGQUIT, which would print a Go program's
// goroutines, and as a container's process 1, which no signal ends, it exits
// with 128 and the signal's number. It does not return.
func EndBy(s syscall.Signal) {
	if os.Getpid() != 1 && s != syscall.SIGQUIT {
		signal.Reset(s)
		_ = syscall.Kill(os.Getpid(), s)
		time.Sleep(time.Second) // until it is delivered
	}
	os.Exit(128 + int(s))
}
