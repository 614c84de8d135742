package ready

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"os"
	"sync"
	"time"
)

// timeout bounds one look (a choice: a connection that takes longer is no sign
// of a server that a call should hurry to).
const timeout = time.Second

// maxAddresses bounds how many addresses of a name one look tries (a choice: a
// server with more has others to be found by).
const maxAddresses = 8

// level is what a look saw of a server, in the order of readiness.
type level int

const (
	nameless   level = iota - 1 // no such name, as far as is known
	unanswered                  // no answer in time, closed without one, or a failure that says nothing
	down                        // refused, or no way to it
	loading                     // it says that it is not ready yet, and will be by itself
	unready                     // of omnigraph: another answer that is no sign of readiness, or none
	accepting                   // it accepted a connection, and did not say that it is not ready
	healthy                     // it answered its health check as expected
)

// looker is a way to look at a target once. The status is what the health check was
// answered with, 0 for no answer.
type looker func(ctx context.Context, t *Target) (l level, status int)

// look is one look at a target. Where there is a health check, a connection says
// nothing before that has been answered or the look is over: the answer may be that
// the server is not ready.
func look(ctx context.Context, t *Target) (level, int) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	addresses, err := resolve(ctx, t.Host)
	var name *net.DNSError
	switch {
	case errors.As(err, &name) && name.IsNotFound:
		return nameless, 0
	case err != nil:
		return unanswered, 0
	}
	return lookAt(ctx, t, addresses[:min(len(addresses), maxAddresses)])
}

// lookAt is a look at the target on these addresses.
func lookAt(ctx context.Context, t *Target, addresses []netip.Addr) (level, int) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	l := &looking{target: t, most: unanswered}
	var group sync.WaitGroup
	for _, address := range addresses {
		group.Go(func() {
			if l.reach(l.at(ctx, address.Unmap())) == t.best() {
				cancel() // the other addresses have nothing to add
			}
		})
	}
	group.Wait()
	return l.end(), l.status
}

// best is the most that a look at the target can see.
func (t *Target) best() level {
	if t.Scheme == "tcp" {
		return accepting
	}
	return healthy
}

// resolve looks a name up afresh each time: a restart may move a server.
func resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	if address, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{address}, nil
	}
	return lookUp(ctx, "ip", host)
}

// lookUp is a variable for the test of a name with many addresses.
var lookUp = net.DefaultResolver.LookupNetIP

// failed is what an error of a connection says of a server.
func failed(err error) level {
	for _, number := range noWay {
		if errors.Is(err, number) {
			return down
		}
	}
	return unanswered
}

// looking is a look under way, at all addresses at once.
type looking struct {
	target *Target

	mu     sync.Mutex
	most   level // that an address came to
	mute   bool  // one of them said nothing
	status int   // of the answer of an address
}

// reach notes what an address came to.
func (l *looking) reach(to level) level {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mute = l.mute || to == unanswered
	l.most = max(l.most, to)
	return to
}

// answered notes what an address answered.
func (l *looking) answered(status int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.status = max(l.status, status)
}

// end is what the look came to. An attempt may meet any of the addresses: it
// would fail only if each of them says so.
func (l *looking) end() level {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mute && l.most < unready {
		return unanswered
	}
	return l.most
}

// at looks at one address.
func (l *looking) at(ctx context.Context, address netip.Addr) level {
	to := net.JoinHostPort(address.String(), l.target.Port)
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", to)
	if err != nil {
		return failed(err)
	}
	defer conn.Close()
	if l.target.best() == accepting {
		return stays(conn)
	}
	v := &visit{target: l.target, to: to, conn: conn}
	defer v.end()
	defer func() { l.answered(v.status) }()
	if l.target.Omnigraph {
		return v.life(ctx)
	}
	got, err := v.ask(ctx, l.target.Path)
	switch {
	case err == nil && l.target.expects(got.status):
		return healthy
	case err != nil && !got.heard && ctx.Err() == nil:
		return unanswered // closed without a word
	case err == nil && got.status == http.StatusServiceUnavailable:
		return loading
	}
	return accepting
}

// Closes says whether what listens at an address, such as 127.0.0.1:80, accepts a
// TCP connection and closes it at once, as what stands before a server that is
// away may do. Nothing is sent.
func Closes(ctx context.Context, address string) bool {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return false
	}
	defer conn.Close()
	return stays(conn) == unanswered
}

// steady is how long a connection must last to count as accepted: what stands
// before a server that is away may accept, and close at once (a choice, far above a
// round trip on a machine or in its network).
const steady = 20 * time.Millisecond

// stays says whether a connection is kept.
func stays(conn net.Conn) level {
	if conn.SetReadDeadline(time.Now().Add(steady)) != nil {
		return unanswered
	}
	if _, err := conn.Read(make([]byte, 1)); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return unanswered
	}
	return accepting
}
