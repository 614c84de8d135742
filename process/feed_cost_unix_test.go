//go:build unix

package process

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestHundredMebibytesByteForByte(t *testing.T) {
	const size = 100 << 20
	for kind := range pipes {
		r, w := openBoth(t, kind)
		sum := make(chan string, 1)
		go func() {
			h := sha256.New()
			io.CopyN(io.MultiWriter(w, h), noise(), size)
			w.Close()
			sum <- fmt.Sprintf("%x", h.Sum(nil))
		}()
		s := newStdin(t, r)
		first := command(t, "cat", "70000000", "1")
		first.Stdin = s
		started := time.Now()
		if _, err := first.Attempt(t.Context()); err != nil {
			t.Fatal(err)
		}
		var got [2]string
		for i := range got {
			c := command(t, "sum", "1")
			c.Stdin = s
			_, got[i], _ = attempt(t, c)
		}
		if want := <-sum; got != [2]string{want, want} {
			t.Errorf("%s: %s, want %s", kind, got, want)
		}
		t.Logf("%s: %v for 270 MB", kind, time.Since(started))
	}
}

// Neither a wait for input nor one for the child takes the processor's time.
func TestWaitingIsIdle(t *testing.T) {
	for kind := range pipes {
		r, w := openBoth(t, kind)
		for _, input := range []string{"", text(10000)} {
			io.WriteString(w, input)
			s := newStdin(t, r)
			f, err := s.attach(newFlag())
			if err != nil {
				t.Fatal(err)
			}
			f.start()
			before := cpu(t)
			time.Sleep(time.Second)
			if used := cpu(t) - before; used > 300*time.Millisecond {
				t.Errorf("%s, %d bytes of input: a second's wait took %v of the processor", kind, len(input), used)
			}
			f.stop()
		}
	}
}

func cpu(t *testing.T) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// No descriptor is left, neither after attempts nor after one that could not
// be started.
func TestNoDescriptorIsLeft(t *testing.T) {
	r, w := openBoth(t, "pipe")
	io.WriteString(w, text(1000))
	count := func() int {
		names, err := os.ReadDir("/dev/fd")
		if err != nil {
			t.Skip(err)
		}
		return len(names)
	}
	cat(t, nil, "0", "0") // what the runtime keeps
	before := count()
	s, err := NewStdin(r, Replay)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		cat(t, s, "10", "0")
	}
	c := &Command{Argv: []string{filepath.Join(t.TempDir(), "missing")}, Stdin: s}
	if _, err := c.Attempt(t.Context()); err == nil {
		t.Error("it ran")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if after := count(); after != before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

func BenchmarkPipe(b *testing.B) {
	const size = 100 << 20
	for kind := range pipes {
		for _, write := range []int{1 << 20, 4096, 100} {
			b.Run(fmt.Sprintf("%s/writes=%d", kind, write), func(b *testing.B) {
				b.SetBytes(size)
				for range b.N {
					r, w := openBoth(b, kind)
					go func() {
						for piece, n := make([]byte, write), 0; n < size; n += write {
							w.Write(piece)
						}
						w.Close()
					}()
					s, err := NewStdin(r, Replay)
					if err != nil {
						b.Fatal(err)
					}
					c := command(b, "cat", "-1", "0")
					c.Stdin, c.Stdout = s, io.Discard
					if _, err := c.Attempt(b.Context()); err != nil {
						b.Fatal(err)
					}
					s.Close()
				}
			})
		}
	}
}
