package standin

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
)

// causes is an error as a report prints it: the message and what caused it.
type causes []string

func (c causes) Error() string { return c[0] }

// connectError is a connection that could not be established.
type connectError struct{ error }

func (e connectError) Unwrap() error { return e.error }

// transport makes one connection for each request, so that Go's client repeats
// nothing by itself, and marks what failed before there was a connection.
func transport() *http.Transport {
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
		if err != nil {
			return nil, connectError{err}
		}
		return conn, nil
	}
	return &http.Transport{
		Proxy:             http.ProxyFromEnvironment,
		DisableKeepAlives: true,
		DialContext:       dial,
		DialTLSContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dial(ctx, network, address)
			if err != nil {
				return nil, err
			}
			host, _, _ := net.SplitHostPort(address)
			secured := tls.Client(conn, &tls.Config{ServerName: host})
			if err := secured.HandshakeContext(ctx); err != nil {
				conn.Close()
				return nil, connectError{err}
			}
			return secured, nil
		},
	}
}

func isConnect(err error) bool {
	var connect connectError
	var op *net.OpError
	return errors.As(err, &connect) || errors.As(err, &op) && op.Op == "proxyconnect"
}

func isTimeout(err error) bool {
	var net net.Error
	return errors.As(err, &net) && net.Timeout() && !isConnect(err)
}

// transportError puts a failed request in the words of omnigraph's HTTP library.
func (e *exchange) transportError(err error, url string) error {
	chain := causes{"error sending request for url (" + url + ")"}
	var errno syscall.Errno
	var dns *net.DNSError
	var cert *tls.CertificateVerificationError
	switch {
	case isConnect(err) && errors.As(err, &dns):
		return append(chain, "client error (Connect)", "dns error", "failed to lookup address information: Name or service not known")
	case isConnect(err) && errors.As(err, &cert):
		return append(chain, "client error (Connect)", "invalid peer certificate: UnknownIssuer")
	case isConnect(err) && errors.As(err, &errno):
		return append(chain, "client error (Connect)", "tcp connect error", osError(errno))
	case isConnect(err):
		return append(chain, "client error (Connect)", err.Error())
	case isTimeout(err):
		return append(chain, "operation timed out")
	case errors.As(err, &errno):
		return append(chain, "client error (SendRequest)", "connection error", osError(errno))
	case strings.Contains(err.Error(), "malformed HTTP"):
		return append(chain, "client error (SendRequest)", "invalid HTTP version parsed")
	}
	return append(chain, "client error (SendRequest)", "connection closed before message completed")
}

// decodeError is an answer that broke off.
func decodeError(err error) error {
	cause := "end of file before message length reached"
	var errno syscall.Errno
	switch {
	case isTimeout(err):
		return causes{"error decoding response body", "operation timed out"}
	case errors.As(err, &errno):
		cause = osError(errno)
	case !errors.Is(err, io.ErrUnexpectedEOF):
		cause = err.Error()
	}
	return causes{"error decoding response body", "error reading a body from connection", cause}
}

// osError is an error of the system as Rust prints it.
func osError(errno syscall.Errno) string {
	text := errno.Error()
	return fmt.Sprintf("%s%s (os error %d)", strings.ToUpper(text[:1]), text[1:], int(errno))
}

// unreadable is what omnigraph's JSON library says of an answer that is none.
// It knows the answers of proxies and the cut ones; what is wrong deeper inside
// has other words.
func unreadable(body []byte) string {
	text := strings.TrimSpace(string(body))
	at := fmt.Sprintf(" at line 1 column %d", len(text))
	switch {
	case text == "":
		return "EOF while parsing a value at line 1 column 0"
	case !strings.ContainsRune("{[\"0123456789-tfn", rune(text[0])):
		return "expected value at line 1 column 1"
	case text[0] == '{' && len(text) > 1 && text[1] != '"' && text[1] != '}':
		return "key must be a string at line 1 column 2"
	case text[0] == '{' && text[len(text)-1] != '}':
		return "EOF while parsing an object" + at
	}
	return "trailing characters" + at
}
