package ready

import (
	"net"
	"testing"
	"time"
)

// Only a listener that accepts and hangs up closes at once: not one that listens
// on, speaks first or is away.
func TestCloses(t *testing.T) {
	for name, c := range map[string]struct {
		serve func(net.Conn)
		want  bool
	}{
		"hangs up":     {func(c net.Conn) { c.Close() }, true},
		"listens":      {func(c net.Conn) { time.Sleep(100 * time.Millisecond); c.Close() }, false},
		"speaks first": {func(c net.Conn) { c.Write([]byte("220 hello\r\n")); c.Close() }, false},
	} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		served := make(chan struct{})
		go func() {
			defer close(served)
			if conn, err := l.Accept(); err == nil {
				go c.serve(conn)
			}
		}()
		if got := Closes(t.Context(), l.Addr().String()); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
		<-served
		l.Close()
		if Closes(t.Context(), l.Addr().String()) {
			t.Errorf("%s: nobody listens, and it closes", name)
		}
	}
}
