package httpretry

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"reflect"
	"runtime"
	"strings"
	"unicode/utf8"

	"outlast/host"
	"outlast/ready"
)

// looks says where a base's requests go, so that a server is watched only where they
// would find it.
type looks struct {
	proxy func(*http.Request) (*url.URL, error) // nil: there is none
	own   bool                                  // it connects in a way of its own
}

// looksThrough is what is known of a base. One that is no *http.Transport is taken to
// use the environment's proxies.
func looksThrough(base http.RoundTripper) looks {
	t, ok := base.(*http.Transport)
	if !ok {
		return looks{proxy: http.ProxyFromEnvironment}
	}
	//lint:ignore SA1019 a Transport may have them
	own := t.Dial != nil || t.DialTLS != nil || t.DialTLSContext != nil || t.DialContext != nil && !isDialer(t.DialContext)
	return looks{proxy: t.Proxy, own: own}
}

// isDialer says whether a DialContext is net.Dialer's, as http.DefaultTransport's is.
func isDialer(dial any) bool {
	f := runtime.FuncForPC(reflect.ValueOf(dial).Pointer())
	return f != nil && f.Name() == "net.(*Dialer).DialContext-fm"
}

// named reads an Options.Ready. The target is of a URL alone.
func named(where string) (target *ready.Target, err error) {
	switch {
	case where == "", where == off:
	case strings.HasPrefix(where, "/"):
		_, err = ready.ParseTarget("http://localhost" + where)
	case strings.Contains(where, "://"):
		var choice ready.Choice
		choice, err = ready.Parse(where)
		target = choice.Target
	default:
		err = errors.New("expected a path, a URL or " + off)
	}
	if err != nil {
		return nil, fmt.Errorf("outlast: httpretry: Ready: %w", err)
	}
	return target, nil
}

const off = "off"

// at is how a request's server is watched; else why it is not, "" where nobody is to.
// Where is an Options.Ready, and target is what it names.
func (l looks) at(request *http.Request, where string, target *ready.Target) (sees host.Readiness, why string) {
	switch {
	case where == off:
		return nil, ""
	case target != nil && strings.EqualFold(target.Host, request.URL.Hostname()):
		return ready.Server(*target), ""
	case target != nil:
		where = ""
	}
	if why := l.hidden(request); why != "" {
		return nil, why
	}
	return own{request.URL, where}, ""
}

// own is a request's own address, watched. It is read when it is needed, since most
// requests succeed.
type own struct {
	url  *url.URL
	path string // of the server's health; "": there is none
}

// Watch implements host.Readiness.
func (o own) Watch(eager bool, news func()) host.Watch {
	target, err := ready.ParseTarget(address(o.url, o.path))
	if err != nil {
		return blind{} // such as port 0, where nobody is
	}
	return ready.Server(target).Watch(eager, news)
}

// blind sees nothing.
type blind struct{}

func (blind) Seen() host.Seen { return host.Seen{} }
func (blind) Stop()           {}

// address is where a request goes, with the path of its server's health if there is
// one.
func address(u *url.URL, path string) string {
	if path != "" {
		return u.Scheme + "://" + u.Host + path
	}
	port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	return "tcp://" + net.JoinHostPort(u.Hostname(), port)
}

// hidden is why a request's own address is not where it goes; "": it is.
func (l looks) hidden(request *http.Request) string {
	for _, c := range []byte(request.URL.Host) {
		if c >= utf8.RuneSelf {
			return "the host's name is not in ASCII" // net/http asks for another spelling of it
		}
	}
	if l.own {
		return "the transport has a way of its own to connect"
	}
	if l.proxy == nil {
		return ""
	}
	if by, err := l.proxy(request); by != nil || err != nil {
		return "a proxy is in the way"
	}
	return ""
}
