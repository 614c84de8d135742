package process

import (
	"bytes"
	"errors"
	"io"
	"os"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// pipeTo is a stream that reads what is written to the returned pipe; done is
// closed when all is read and passed on.
func pipeTo(t interface{ Fatal(...any) }, out io.Writer) (s *stream, w *os.File, done chan struct{}) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s, done = newStream("stdout", r, out), make(chan struct{})
	go func() {
		defer close(done)
		s.read()
	}()
	return s, w, done
}

// Whatever comes when, and whenever the holding ends, the user gets each byte
// once and in order.
func TestEachByteOnceAndInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want, got bytes.Buffer
		s, w, done := pipeTo(t, &got)
		for i, n := range rapid.SliceOfN(rapid.IntRange(1, 50_000), 0, 8).Draw(t, "pieces") {
			piece := bytes.Repeat([]byte{byte('a' + i)}, n)
			want.Write(piece)
			w.Write(piece)
			if rapid.IntRange(0, 3).Draw(t, "release") == 0 {
				s.release()
			}
		}
		w.Close()
		<-done
		if err := s.commit(); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want.Bytes()) {
			t.Fatalf("%d bytes for %d, or in another order", got.Len(), want.Len())
		}
		if want.Len() > holdBytes && !s.streamed() {
			t.Fatal("more than the limit was held")
		}
	})
}

func TestNothingGoesLiveAfterTheEnd(t *testing.T) {
	var got bytes.Buffer
	s, w, done := pipeTo(t, &got)
	io.WriteString(w, "held")
	w.Close()
	<-done
	s.release()
	if got.Len() > 0 || s.streamed() {
		t.Errorf("%q was passed on", &got)
	}
}

type failing struct{ err error }

func (f failing) Write(p []byte) (int, error) { return 0, f.err }

type short struct{}

func (short) Write(p []byte) (int, error) { return len(p) - 1, nil }

func TestWriteErrorClosesThePipe(t *testing.T) {
	full := errors.New("disk full")
	for out, want := range map[io.Writer]error{failing{full}: full, short{}: io.ErrShortWrite} {
		s, w, done := pipeTo(t, out)
		io.WriteString(w, "held")
		waitUntil(t, func() bool { s.mu.Lock(); defer s.mu.Unlock(); return s.got.total > 0 })
		s.release() // as the timer does, while the child writes nothing
		<-done
		if _, err := io.WriteString(w, "more"); err == nil {
			t.Error("the child could go on writing")
		}
		w.Close()
		if err := s.commit(); !errors.Is(err, want) {
			t.Errorf("commit: %v, want %v", err, want)
		}
	}
}

func waitUntil(t *testing.T, what func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if what() {
			return
		}
	}
	t.Fatal("it does not come")
}
