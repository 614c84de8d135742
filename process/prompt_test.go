package process

import (
	"bytes"
	"io"
	"sync"
	"testing"
	"time"
)

// both is a writer that can be looked at.
type both struct {
	mu  sync.Mutex
	got bytes.Buffer
}

func (b *both) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.got.Write(p)
}

func (b *both) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.got.String()
}

// A question is seen by whoever can answer it, with all before it and after it.
func TestQuestionIsPassedOn(t *testing.T) {
	for _, text := range []string{"Password: ", "a line\n\nsure? [y/N]", "50%\r100%\ndone\n> "} {
		var out both
		s, w, done := pipeTo(t, &out)
		s.mu.Lock()
		s.asks = true
		s.mu.Unlock()
		io.WriteString(w, text)
		waitUntil(t, func() bool { return out.String() == text })
		io.WriteString(w, "and on")
		waitUntil(t, func() bool { return out.String() == text+"and on" })
		w.Close()
		<-done
	}
}

// What is no question is held, and so is one that nobody can answer.
func TestWhatIsNoQuestionIsHeld(t *testing.T) {
	for _, c := range []struct {
		asks  bool
		parts []string
	}{
		{false, []string{"Password: "}},
		{true, []string{"a line\n", "another\n"}},
		{true, []string{"a line that is ", "soon over\n"}},
		{true, []string{"  0%", "\r 50%"}},
		{true, []string{"  0%\r"}},
	} {
		var out both
		s, w, done := pipeTo(t, &out)
		s.mu.Lock()
		s.asks = c.asks
		s.mu.Unlock()
		for _, part := range c.parts {
			io.WriteString(w, part)
		}
		time.Sleep(2 * promptTime)
		w.Close()
		<-done
		if out.String() != "" || s.streamed() {
			t.Errorf("%v: %q was passed on", c, out.String())
		}
	}
}
