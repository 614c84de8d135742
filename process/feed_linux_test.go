package process

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func enlarge(f *os.File) { unix.FcntlInt(f.Fd(), unix.F_SETPIPE_SZ, 1<<16) }

// A named pipe that is open for reading and writing has no end.
func TestNamedPipeOpenForBoth(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fifo")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	f.WriteString("one two three")
	s := newStdin(t, f)
	for _, want := range []string{"one ", "one two "} {
		if got := cat(t, s, map[string]string{"one ": "4", "one two ": "8"}[want], "1"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	left := make([]byte, 100)
	if n, err := f.Read(left); err != nil || string(left[:n]) != "three" {
		t.Errorf("left: %q, %v", left[:n], err)
	}
}

// The flags of a description are everybody's who has it.
func TestFlagsOfTheRealInputAreLeftAlone(t *testing.T) {
	for _, flags := range []int{0, unix.O_NONBLOCK} {
		var fds [2]int
		if err := unix.Pipe2(fds[:], unix.O_CLOEXEC|flags); err != nil {
			t.Fatal(err)
		}
		r, w := os.NewFile(uintptr(fds[0]), "r"), os.NewFile(uintptr(fds[1]), "w")
		s := newStdin(t, r)
		w.WriteString("text")
		for range 2 {
			if got := cat(t, s, "4", "0"); got != "text" {
				t.Errorf("%q", got)
			}
		}
		if got, err := unix.FcntlInt(uintptr(fds[0]), unix.F_GETFL, 0); err != nil || got&unix.O_NONBLOCK != flags {
			t.Errorf("flags %#x, %v", got, err)
		}
		r.Close()
		w.Close()
	}
}

// A pipe of packets gives a packet a read.
func TestPipeOfPackets(t *testing.T) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC|unix.O_DIRECT); err != nil {
		t.Fatal(err)
	}
	r, w := os.NewFile(uintptr(fds[0]), "r"), os.NewFile(uintptr(fds[1]), "w")
	defer r.Close()
	for _, p := range []string{"a", "bc", "def"} {
		w.WriteString(p)
	}
	w.Close()
	s := newStdin(t, r)
	for range 2 {
		if got := cat(t, s, "-1", "0"); got != "abcdef" {
			t.Errorf("%q", got)
		}
	}
}

// Without a writer there is nothing to wait for, as for any reader.
func TestNamedPipeWithoutAWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fifo")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got := cat(t, newStdin(t, f), "-1", "0"); got != "" {
		t.Errorf("%q", got)
	}
}

// Where tee(2) is not to be had, the pipe is read.
func TestInputThatCannotBeDoubled(t *testing.T) {
	f := opened(t, "text", os.O_RDONLY) // tee(2) is for pipes alone
	src, err := openPipeSource(int(f.Fd()))
	if _, reads := src.(*readSource); err != nil || !reads {
		t.Errorf("%T, %v", src, err)
	}
}

// A pipe of one page tells when the child has taken all, so nobody has to look.
func TestChildsPipeIsOfOnePage(t *testing.T) {
	r, _ := openBoth(t, "pipe")
	f, err := newStdin(t, r).attach(newFlag())
	if err != nil {
		t.Fatal(err)
	}
	defer f.stop()
	if size, err := unix.FcntlInt(f.child.Fd(), unix.F_GETPIPE_SZ, 0); err != nil || size != page {
		t.Errorf("%d bytes, %v", size, err)
	}
}
