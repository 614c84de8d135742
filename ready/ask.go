package ready

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
)

// maxBody bounds what a look reads of an answer (a choice: omnigraph's are of
// some hundred bytes).
const maxBody = 64 << 10

// roots are who may vouch for a server; nil: whom the system trusts. Tests have
// their own.
var roots *x509.CertPool

// visit is a look's requests to one address, the first of them on a connection
// that it has, and the others too, as long as the server keeps it.
type visit struct {
	target *Target
	to     string          // the address and port
	conn   net.Conn        // nil when it is used
	client *http.Transport // nil before the first request
	status int             // of the last answer; 0: there was none
	heard  atomic.Bool     // something of the answer to the one under way
}

// answer is what a request came to.
type answer struct {
	heard  bool // something was said, whatever it was
	status int
	body   []byte // nil where it is too long, or did not come whole in time
}

// ask sends one request. Bodies are read only of those that omnigraph gives.
func (v *visit) ask(ctx context.Context, path string) (answer, error) {
	if v.client == nil {
		v.client = v.transport()
	}
	v.heard.Store(false)
	to, err := url.ParseRequestURI(path)
	if err != nil {
		return answer{}, err
	}
	to.Scheme, to.Host = v.target.Scheme, v.target.address()
	request := &http.Request{Method: http.MethodGet, URL: to, Header: http.Header{"User-Agent": {"outlast"}}}
	response, err := v.client.RoundTrip(request.WithContext(ctx)) // no client: no redirects, no cookies
	if err != nil {
		return answer{heard: v.heard.Load()}, err
	}
	defer response.Body.Close()
	got := answer{heard: true, status: response.StatusCode}
	v.status = got.status
	if v.target.Omnigraph {
		got.body = bounded(response.Body)
	}
	return got, nil
}

func (v *visit) transport() *http.Transport {
	return &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			conn, err := v.connect(ctx)
			return &answering{Conn: conn, heard: &v.heard}, err
		},
		TLSClientConfig:        &tls.Config{RootCAs: roots, ServerName: v.target.Host},
		ForceAttemptHTTP2:      true,
		DisableKeepAlives:      !v.target.Omnigraph, // only omnigraph's are asked more than once
		DisableCompression:     true,
		MaxResponseHeaderBytes: 64 << 10, // a choice: nothing of them is read
	}
}

// end closes what is left of the visit.
func (v *visit) end() {
	if v.client != nil {
		v.client.CloseIdleConnections()
	}
}

// connect gives the connection that there is, and then others.
func (v *visit) connect(ctx context.Context) (net.Conn, error) {
	if conn := v.conn; conn != nil {
		v.conn = nil
		return conn, nil
	}
	return new(net.Dialer).DialContext(ctx, "tcp", v.to)
}

// bounded is a body, nil if it is longer than maxBody or breaks off.
func bounded(r io.Reader) []byte {
	body, err := io.ReadAll(io.LimitReader(r, maxBody+1))
	if err != nil || len(body) > maxBody {
		return nil
	}
	return body
}

// answering is a connection that notes whether the other side says anything.
type answering struct {
	net.Conn
	heard *atomic.Bool
}

func (a *answering) Read(p []byte) (int, error) {
	n, err := a.Conn.Read(p)
	if n > 0 {
		a.heard.Store(true)
	}
	return n, err
}
