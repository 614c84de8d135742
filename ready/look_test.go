package ready

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"strings"
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

// A name with more addresses than a look tries, which a resolver gives in another order
// each time: those who wait for it meet all the same, and the looker has not moved.
func TestANameWithManyAddresses(t *testing.T) {
	was := lookUp
	t.Cleanup(func() { lookUp = was })
	var list []netip.Addr
	for i := range byte(2 * maxAddresses) {
		list = append(list, netip.AddrFrom4([4]byte{127, 0, 0, i}))
	}
	lookUp = func(context.Context, string, string) ([]netip.Addr, error) {
		list = append(list[1:], list[0])
		return append(slices.Clone(list), list[0]), nil // a hosts file may have one twice
	}
	w := newWatcher(Target{Host: "many.example"}, nil)
	first, err := w.addresses(t.Context())
	if again, _ := w.addresses(t.Context()); err != nil || again != first || !strings.Contains(first, "127.0.0.15") {
		t.Errorf("%s, and then %s: %v", first, again, err)
	}
}
