package ready

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
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
	nameless   level = iota - 1 // no such name, as far as we know
	unanswered                  // no answer in time, closed without one, or a failure that says nothing
	down                        // refused, or no way to it
	accepting                   // it accepted a connection
	healthy                     // it answered its health check as expected
)

// looker is a way to look at a target once.
type looker func(ctx context.Context, t *Target, connected func()) level

// look is one look at a target. Where a connection is not all that there is to
// see, it is told at once: whoever waits for no more need not wait for an answer.
func look(ctx context.Context, t *Target, connected func()) level {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	addresses, err := resolve(ctx, t.Host)
	var name *net.DNSError
	switch {
	case errors.As(err, &name) && name.IsNotFound:
		return nameless
	case err != nil:
		return unanswered
	}
	return lookAt(ctx, t, addresses, connected)
}

// lookAt is a look at the target on these addresses.
func lookAt(ctx context.Context, t *Target, addresses []netip.Addr, connected func()) level {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	l := &looking{target: t, connected: connected, least: down}
	var group sync.WaitGroup
	for _, address := range addresses {
		group.Go(func() {
			if l.at(ctx, address.Unmap()) == t.best() {
				cancel() // the other addresses have nothing to add
			}
		})
	}
	group.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	return max(l.most, l.least)
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
	addresses, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	return addresses[:min(len(addresses), maxAddresses)], err
}

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
	target    *Target
	connected func()

	mu    sync.Mutex
	over  bool  // nothing more is told
	most  level // that an address came to
	least level // down only if each address that failed is
}

// reach notes what an address came to.
func (l *looking) reach(to level) level {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return to
	}
	if to < accepting {
		l.least = min(l.least, to)
		return to
	}
	if l.most < accepting && l.target.best() > accepting {
		l.connected()
	}
	l.most = max(l.most, to)
	return to
}

// at looks at one address.
func (l *looking) at(ctx context.Context, address netip.Addr) level {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort(address.String(), l.target.Port))
	if err != nil {
		return l.reach(failed(err))
	}
	defer conn.Close()
	if l.target.best() == accepting {
		return l.reach(stays(conn))
	}
	stayed := time.AfterFunc(steady, func() { l.reach(accepting) })
	defer stayed.Stop()
	answering := &answering{Conn: conn}
	status, err := ask(ctx, l.target, answering)
	switch {
	case err == nil && l.target.expects(status):
		return l.reach(healthy)
	case err != nil && !answering.heard.Load() && ctx.Err() == nil:
		return l.reach(unanswered) // closed without a word
	}
	return l.reach(accepting)
}

// answering is a connection that notes whether the other side says anything.
type answering struct {
	net.Conn
	heard atomic.Bool
}

func (a *answering) Read(p []byte) (int, error) {
	n, err := a.Conn.Read(p)
	if n > 0 {
		a.heard.Store(true)
	}
	return n, err
}

// steady is how long a connection must last without an answer to count as
// accepted: what stands before a server that is away may accept, and close at
// once (a choice, far above a round trip on a machine or in its network).
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

// roots are who may vouch for a server; nil: whom the system trusts. Tests have
// their own.
var roots *x509.CertPool

// ask sends one request on a connection.
func ask(ctx context.Context, t *Target, conn net.Conn) (status int, err error) {
	transport := &http.Transport{
		DialContext:            func(context.Context, string, string) (net.Conn, error) { return conn, nil },
		TLSClientConfig:        &tls.Config{RootCAs: roots, ServerName: t.Host},
		ForceAttemptHTTP2:      true,
		DisableKeepAlives:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: 64 << 10, // a choice: nothing of them is read
	}
	defer transport.CloseIdleConnections()
	to, err := url.ParseRequestURI(t.Path)
	if err != nil {
		return 0, err
	}
	to.Scheme, to.Host = t.Scheme, t.address()
	request := &http.Request{Method: http.MethodGet, URL: to, Header: http.Header{"User-Agent": {"outlast"}}}
	response, err := transport.RoundTrip(request.WithContext(ctx)) // no client: no redirects, no cookies
	if err != nil {
		return 0, err
	}
	response.Body.Close()
	return response.StatusCode, nil
}
