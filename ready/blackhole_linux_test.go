package ready

import (
	"net"
	"strconv"
	"syscall"
	"testing"
	"time"

	"outlast/abi"
	"outlast/host"
)

// blackHole is a port whose queue is full: the kernel drops whoever knocks.
func blackHole(t *testing.T) (to Target, open func()) {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	to = Target{Scheme: "tcp", Host: "127.0.0.1", Port: strconv.Itoa(name.(*syscall.SockaddrInet4).Port)}
	for {
		conn, err := net.DialTimeout("tcp", to.address(), 300*time.Millisecond)
		if err != nil {
			break
		}
		t.Cleanup(func() { conn.Close() })
	}
	return to, func() {
		for range 3 {
			if conn, _, err := syscall.Accept(fd); err == nil {
				t.Cleanup(func() { syscall.Close(conn) })
			}
			if syscall.SetNonblock(fd, true) != nil {
				return
			}
		}
	}
}

// Where packets vanish, looks go on being made, a bounded number at once; they
// say nothing of the server until one of them is answered.
func TestABlackHole(t *testing.T) {
	to, open := blackHole(t)
	w, heard := watched(t, to)
	v := w.(*watch)
	looks := func() (begun, ended int64, flying int) {
		v.watcher.mu.Lock()
		defer v.watcher.mu.Unlock()
		return v.watcher.looks, v.watcher.latest, v.watcher.flying
	}
	most := 0
	eventually(t, "many looks, and some that ended", func() bool {
		begun, ended, flying := looks()
		most = max(most, flying)
		return begun > 12 && ended > 2
	})
	if most < 2 || most > inFlight {
		t.Errorf("%d looks at once", most)
	}
	if got := w.Seen(); got != (host.Seen{}) {
		t.Errorf("got %+v", got)
	}
	open()
	<-heard
	if got := w.Seen(); got != (host.Seen{Rose: abi.Accepting}) {
		t.Errorf("when it opens: %+v", got)
	}
}

// An address that does not answer does not hold up one that does.
func TestABlackHoleAmongTheAddresses(t *testing.T) {
	to, _ := blackHole(t)
	other := Target{Scheme: "tcp", Host: "127.0.0.2", Port: to.Port}
	listen(t, other)
	start := time.Now()
	if got, _ := lookAt(t.Context(), &to, addresses("127.0.0.1", "127.0.0.2")); got != accepting {
		t.Errorf("got %v", got)
	}
	if took := time.Since(start); took > 10*timeout {
		t.Errorf("it took %v", took)
	}
	// It is not known to be down while one of them may be up.
	if got, _ := look(t.Context(), &to); got != unanswered {
		t.Errorf("alone: %v", got)
	}
}
