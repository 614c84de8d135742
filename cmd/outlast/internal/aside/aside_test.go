package aside

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// stuck takes nothing until it is let go.
type stuck struct {
	bytes.Buffer
	free chan struct{}
}

func (s *stuck) Write(b []byte) (int, error) {
	<-s.free
	return s.Buffer.Write(b)
}

func noted(lost int) []byte { return fmt.Appendf(nil, "and %d more\n", lost) }

// One write is waited for a little, those after it not at all; what does not fit is
// dropped and counted, and all the rest comes out in its order.
func TestNobodyTakesIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &stuck{free: make(chan struct{})}
		w := New(out, noted)
		began := time.Now()
		var want strings.Builder
		const line = 1 << 10
		for i := range 100 {
			text := fmt.Sprintf("%0*d\n", line-1, i)
			if n, err := w.Write([]byte(text)); n != len(text) || err != nil {
				t.Fatal(n, err)
			}
			if i < room/line {
				want.WriteString(text)
			}
		}
		if held := time.Since(began); held > grace {
			t.Errorf("held up for %v", held)
		}
		if lost, _ := w.Flush(time.Minute); lost != 100 || time.Since(began) > grace+time.Minute {
			t.Errorf("%d lost", lost)
		}
		close(out.free)
		if lost, err := w.Flush(time.Minute); lost != 0 || err != nil {
			t.Errorf("%d lost, %v", lost, err)
		}
		fmt.Fprintf(&want, "and %d more\n", 100-room/line)
		if got := out.String(); got != want.String() {
			t.Errorf("%d bytes came out, and not %d", len(got), want.Len())
		}
	})
}

// A queue that fills again and again takes no more each time, however long the notes
// are of what was dropped.
func TestTheQueueStaysBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		long := bytes.Repeat([]byte("x"), room/2)
		out := &stuck{free: make(chan struct{})}
		w := New(out, func(int) []byte { return long })
		line := bytes.Repeat([]byte("y"), room/4)
		for range 5 { // of which the last is dropped
			w.Write(line)
		}
		for range 4 {
			out.free <- struct{}{}
		}
		synctest.Wait() // the note is being written
		for range 10 {
			w.Write(line)
		}
		if lost, _ := w.Flush(0); lost != 11 || w.lost != 8 {
			t.Errorf("%d are left, of which %d were dropped", lost, w.lost)
		}
		close(out.free)
		w.Flush(time.Minute)
	})
}

// What is taken at once is there when the write returns, and so is an error.
func TestInItsTime(t *testing.T) {
	var out bytes.Buffer
	w := New(&out, nil)
	for i := range 1000 {
		fmt.Fprint(w, i, ";")
		if !strings.HasSuffix(out.String(), fmt.Sprint(i, ";")) {
			t.Fatal(out.String())
		}
	}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	if _, err := New(full, nil).Write([]byte("x")); err == nil {
		t.Error("a full disk is no error")
	}
}

func TestDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failed := errors.New("failed")
		if n, err := Do(time.Second, func() (int, error) { return 5, failed }); n != 5 || err != failed {
			t.Error(n, err)
		}
		slow := func() (int, error) { time.Sleep(time.Hour); return 5, nil }
		if n, err := Do(time.Second, slow); n != 0 || err != ErrSlow {
			t.Error(n, err)
		}
		time.Sleep(time.Hour)
	})
}
