//go:build unix

package process

import (
	"bytes"
	"syscall"
	"testing"
)

// At the end of the wait, what is in the pipe is read, though another process
// holds it open; what comes after is not waited for.
func TestDrainReadsWhatIsThere(t *testing.T) {
	out := &gated{reached: make(chan struct{}), open: make(chan struct{})}
	s, w, done := pipeTo(t, out)
	defer w.Close() // stays open, as a grandchild's would
	big := bytes.Repeat([]byte("0123456789abcdef"), 2*holdBytes/16)
	go w.Write(big[:holdBytes+30_000])
	<-out.reached
	s.expectEnd()
	waitUntil(t, func() bool { return s.deadlinePassed() })
	close(out.open)
	<-done
	if err := s.commit(); err != nil || !s.isCut() {
		t.Fatal(err, s.isCut())
	}
	if got, want := out.Len(), holdBytes+30_000; got != want {
		t.Errorf("%d bytes of %d", got, want)
	}
}

// deadlinePassed probes with a read of nothing.
func (s *stream) deadlinePassed() bool {
	raw, err := s.source.SyscallConn()
	if err != nil {
		return true
	}
	return raw.Read(func(uintptr) bool { return true }) != nil
}

func TestReadOnceAtTheEnd(t *testing.T) {
	if n, err := readOnce(-1, make([]byte, 1)); n != 0 || err != syscall.EBADF {
		t.Errorf("a bad descriptor gave %d, %v", n, err)
	}
}
