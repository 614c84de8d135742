//go:build unix

package process

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// canCarry: on Windows there is no cat, and no deadline for a pipe.
const canCarry = true

// CarryOn lets what a successful attempt left behind with its output, such as a
// server that pg_ctl has started, print on after this process's end, as it would if
// the command had been run directly: a reader of the output sees its end when the
// server ends. It is to be called after Commit. A cat(1) in a session of its own
// copies each stream that is still held. The error says why there is none: whoever
// prints is then cut off.
func (e *Ended) CarryOn(stdout, stderr *os.File) error {
	return errors.Join(carry(e.stdout, stdout), carry(e.stderr, stderr))
}

func carry(s *stream, out *os.File) error {
	left := s.takeLeft()
	if left == nil {
		return nil
	}
	defer left.Close()
	path, err := LookPath("cat")
	if err != nil {
		return err
	}
	cat := exec.Command(path)
	cat.Dir, cat.Stdin, cat.Stdout = "/", left, out
	cat.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cat.Start() // and nobody waits for it
}
