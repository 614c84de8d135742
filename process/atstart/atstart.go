// Package atstart tells which signals were ignored or blocked when this process
// began, so that a command that it runs can have them so too. Go's runtime catches
// nearly all of them before any other code runs, and its exec gives a child the
// default for these; os/signal can tell of few.
package atstart

import (
	"os/signal"
	"syscall"
)

// Last is the last signal's number on Linux; elsewhere there are fewer.
const Last syscall.Signal = 64

// Ignored says whether a signal was ignored. The runtime's own record tells that of
// all signals, in a program for Linux that has kept two of its symbols (ldflags -s
// takes all away; package trim those that nothing reads). Without it the answer is right for HUP and INT only, and takes QUIT to be as
// INT is. To be asked before any signal is asked for or ignored.
func Ignored(s syscall.Signal) bool {
	if r := record(); r.known && s > 0 && int(s) < len(r.actions) {
		return r.actions[s] == ignore
	}
	if s == syscall.SIGQUIT {
		s = syscall.SIGINT // shells ignore the two together
	}
	return signal.Ignored(s)
}

// Blocked says whether a signal was blocked; without that record it is false.
func Blocked(s syscall.Signal) bool {
	r := record()
	return r.known && s > 0 && r.mask>>(s-1)&1 == 1
}

// Mask is the set of blocked signals, as Linux has it: signal n is bit n-1.
func Mask() uint64 { return record().mask }

// The symbols of the runtime's variables that are read here.
const (
	ActionsSymbol = "runtime.fwdSig"      // what it found for each signal
	MaskSymbol    = "runtime.initSigmask" // what was blocked
)

// ignore is SIG_IGN.
const ignore = 1

// actions are what the runtime found for each signal: 0 the default, 1 ignored.
type actions [Last + 1]uintptr

type found struct {
	known   bool
	actions actions
	mask    uint64
}
