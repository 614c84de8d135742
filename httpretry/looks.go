package httpretry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"reflect"
	"runtime"
	"strings"
	"unicode/utf8"
	"unsafe"

	"outlast/host"
	"outlast/ready"
)

// looks says where a base's requests go, so that a server is watched only where they
// would find it.
type looks struct {
	proxy  func(*http.Request) (*url.URL, error) // nil: there is none
	own    bool                                  // it connects in a way of its own
	unsure bool                                  // it may, as far as is known
}

// looksThrough is what is known of a base. One that is no *http.Transport is taken to
// use the environment's proxies.
func looksThrough(base http.RoundTripper) looks {
	t, ok := base.(*http.Transport)
	if !ok {
		return looks{proxy: http.ProxyFromEnvironment, unsure: true}
	}
	//lint:ignore SA1019 a Transport may have them
	own := t.Dial != nil || t.DialTLS != nil || t.DialTLSContext != nil || t.DialContext != nil && !isPlain(t.DialContext)
	proxy := t.Proxy
	if proxy != nil && name(proxy) != "net/http.ProxyFromEnvironment" {
		proxy = chosen
	}
	return looks{proxy: proxy, own: own}
}

// chosen stands for a Proxy that may count how often it is asked, as one that takes
// several in turn does.
func chosen(*http.Request) (*url.URL, error) { return &url.URL{}, nil }

// isPlain says whether a DialContext is that of a net.Dialer, as http.DefaultTransport's
// is, which finds and reaches what every other program of this machine does.
func isPlain(dial func(context.Context, string, string) (net.Conn, error)) bool {
	if name(dial) != "net.(*Dialer).DialContext-fm" {
		return false
	}
	// A method value points to the method's code, and its receiver after that.
	d := (*(**struct {
		code   uintptr
		dialer *net.Dialer
	})(unsafe.Pointer(&dial))).dialer
	return d.Resolver == nil && d.LocalAddr == nil && d.Control == nil && d.ControlContext == nil
}

// name is a function's.
func name(f any) string {
	if f := runtime.FuncForPC(reflect.ValueOf(f).Pointer()); f != nil {
		return f.Name()
	}
	return ""
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
	return own{request.URL, where, l.unsure}, ""
}

// own is a request's own address, watched. It is read when it is needed, since most
// requests succeed.
type own struct {
	url  *url.URL
	path string // of the server's health; "": there is none

	unsure bool // whether requests go there
}

// Watch implements host.Readiness.
func (o own) Watch(eager bool, news func()) host.Watch {
	target, err := ready.ParseTarget(address(o.url, o.path))
	if err != nil {
		return blind{} // such as port 0, where nobody is
	}
	watch := ready.Server(target).Watch(eager, news)
	if turns, ok := watch.(host.Turns); ok && o.unsure {
		return hopeful{turns}
	}
	return watch
}

// hopeful sees only what hurries requests on: that nobody is at an address proves
// nothing where they may go to another one, such as a socket of Unix's.
type hopeful struct{ host.Turns }

func (h hopeful) Seen() host.Seen {
	seen := h.Turns.Seen()
	seen.Down = false
	return seen
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
		return "a proxy is in the way, or may be"
	}
	return ""
}
