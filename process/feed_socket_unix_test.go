//go:build unix

package process

import (
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// tcp gives the reading end of a connection as a program gets it, and the peer.
func tcp(t *testing.T) (r *os.File, peer *net.TCPConn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	dialled, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	accepted, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer accepted.Close()
	if r, err = accepted.(*net.TCPConn).File(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); dialled.Close() })
	return r, dialled.(*net.TCPConn)
}

func TestConnectionOverTheNetwork(t *testing.T) {
	all := text(300000)
	r, peer := tcp(t)
	s := newStdin(t, r)
	go func() { io.WriteString(peer, all); peer.CloseWrite() }()
	for _, n := range []int{10, 100000, 5} {
		if got := cat(t, s, fmt.Sprint(n), "1"); got != all[:n] {
			t.Errorf("%d bytes, or others", len(got))
		}
	}
	left, err := io.ReadAll(r)
	if err != nil || string(left) != all[100000:] {
		t.Errorf("%d bytes are left, %v", len(left), err)
	}
	if got := cat(t, s, "-1", "0"); got != all[:100000] { // the end came, as for any reader
		t.Errorf("then %d bytes", len(got))
	}
}

// An input that fails is no end: the child must not take what it has for all.
func TestInputThatFailsIsNoEnd(t *testing.T) {
	r, peer := tcp(t)
	io.WriteString(peer, "some")
	s := newStdin(t, r)
	f, err := s.attach(newFlag())
	if err != nil {
		t.Fatal(err)
	}
	f.start()
	got := make([]byte, 4)
	if _, err := io.ReadFull(f.child, got); err != nil || string(got) != "some" {
		t.Errorf("%q, %v", got, err)
	}
	peer.SetLinger(0)
	peer.Close() // resets the connection
	<-f.broken.raised
	ended := []unix.PollFd{{Fd: int32(f.child.Fd()), Events: unix.POLLIN}}
	if err := poll(ended, 0); err != nil || ended[0].Revents != 0 {
		t.Errorf("the child sees %#x, %v", ended[0].Revents, err)
	}
	f.stop()
	if _, err := s.attach(newFlag()); err == nil || !strings.Contains(err.Error(), "given again: reading it: connection reset") {
		t.Errorf("then: %v", err)
	}
}
