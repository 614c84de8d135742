package ready

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Choice is how a user wants a server to be watched.
type Choice struct {
	Auto   bool    // the target follows from the command, if it names a server
	Target *Target // the target that is given; nil with Auto, and where nobody watches
}

// Target is what is looked at: a port that accepts, an HTTP health check, or a
// server of omnigraph's.
type Target struct {
	Scheme    string // tcp, http or https
	Host      string // a name or an address, without brackets
	Port      string // decimal
	Path      string // of HTTP, with a query if it has one; of omnigraph, what stands before its own paths
	Statuses  []int  // of HTTP, that say ready; none: 200 to 299
	Omnigraph bool   // a server of omnigraph's, which says itself what it is doing
}

// defaultPath is where omnigraph, and many a server, answers for its health.
const defaultPath = "/healthz"

const forms = `"auto", "off", "tcp://host:port" or "http(s)://host[:port][/path][#status,…]"`

// Parse reads "auto", "off" or a target: tcp://host:port, or an HTTP URL. Without
// a path that is asked for /healthz. Statuses that say ready stand behind a #,
// such as http://graph:8080/health#200,204; 200 to 299 do without. 503 is not ready
// yet, unless it is one of them.
func Parse(text string) (Choice, error) {
	switch text {
	case "auto":
		return Choice{Auto: true}, nil
	case "off":
		return Choice{}, nil
	}
	t, err := ParseTarget(text)
	if err != nil {
		return Choice{}, fmt.Errorf("%q %w; expected %s", Shown(text), err, forms)
	}
	if t.Scheme != "tcp" && strings.Trim(t.Path, "/") == "" {
		t.Path = defaultPath
	}
	return Choice{Target: &t}, nil
}

// Omnigraph is the server of omnigraph's at a URL, the one that a command is
// given or that its configuration names. The path before the server's own ones
// is kept; a user name, a query and a fragment are not.
//
// A look asks for /readyz: 200 is ready, and 503 with the status loading is not
// ready yet. Where that is 404, 200 of /healthz is ready if it names a release
// below 0.11, which listened no sooner than it could serve.
func Omnigraph(serverURL string) (Target, error) {
	u, err := url.Parse(serverURL)
	if err != nil {
		return Target{}, fmt.Errorf("%q is not a URL", Shown(serverURL))
	}
	t := Target{
		Scheme: strings.ToLower(u.Scheme), Host: u.Hostname(), Port: u.Port(),
		Path: strings.TrimRight(u.EscapedPath(), "/"), Omnigraph: true,
	}
	if t.Scheme != "http" && t.Scheme != "https" {
		return Target{}, fmt.Errorf("%q has no scheme http or https", Shown(serverURL))
	}
	if t, err = t.whole(); err != nil {
		return Target{}, fmt.Errorf("%q %w", Shown(serverURL), err)
	}
	return t, nil
}

// ParseTarget reads tcp://host:port or an HTTP URL, as Parse does, but a path of /
// is one. Its errors do not quote the text, which may hold a password.
func ParseTarget(text string) (Target, error) {
	u, err := url.Parse(text)
	if err != nil {
		return Target{}, fmt.Errorf("is not a URL")
	}
	t := Target{Scheme: strings.ToLower(u.Scheme), Host: u.Hostname(), Port: u.Port()}
	switch {
	case !slices.Contains([]string{"tcp", "http", "https"}, t.Scheme):
		return t, fmt.Errorf("has none of the schemes tcp, http and https")
	case u.User != nil:
		return t, fmt.Errorf("has a user name: a look at the server sends none")
	case t.Scheme == "tcp" && (strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != ""):
		return t, fmt.Errorf("has more than a host and a port")
	case t.Scheme == "tcp" && t.Port == "":
		return t, fmt.Errorf("has no port")
	}
	if t.Scheme != "tcp" {
		if t.Path = u.RequestURI(); u.Path == "" && u.RawQuery == "" {
			t.Path = defaultPath
		}
		if t.Statuses, err = parseStatuses(u.Fragment); err != nil {
			return t, err
		}
	}
	return t.whole()
}

// whole fills in the port and checks what the text gave.
func (t Target) whole() (Target, error) {
	if t.Host == "" {
		return t, fmt.Errorf("has no host")
	}
	if t.Port == "" {
		t.Port = map[string]string{"http": "80", "https": "443"}[t.Scheme]
	}
	if n, err := strconv.Atoi(t.Port); err != nil || n < 1 || n > 65535 {
		return t, fmt.Errorf("has the port %q, which is not from 1 to 65535", t.Port)
	}
	return t, nil
}

func parseStatuses(list string) (statuses []int, err error) {
	if list == "" {
		return nil, nil
	}
	for _, word := range strings.Split(list, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || n < 200 || n > 599 {
			return nil, badStatus(word)
		}
		statuses = append(statuses, n)
	}
	return statuses, nil
}

// longestStatus is the longest word that an error quotes as a status (a choice):
// what is longer may be a piece of a secret that has a # in it.
const longestStatus = 3

func badStatus(word string) error {
	if len(word) > longestStatus {
		return fmt.Errorf("has a status behind the # that is not from 200 to 599")
	}
	return fmt.Errorf("has the status %q, which is not from 200 to 599", word)
}

// String is the target for people, logs and files, without its query, which may
// hold a secret. Without one it is as Parse reads it.
func (t Target) String() string {
	path, _, hidden := strings.Cut(t.Path, "?")
	if hidden {
		path += "?…"
	}
	return t.text(path)
}

// key tells targets apart.
func (t *Target) key() string {
	if t.Omnigraph {
		return "omnigraph " + t.text(t.Path) // --ready may name the same URL, and mean its status alone
	}
	return t.text(t.Path)
}

// text is the target with a path; of omnigraph, with what it is asked for first.
func (t *Target) text(path string) string {
	s := t.Scheme + "://" + t.address() + path
	if t.Omnigraph {
		s += readyPath
	}
	for i, n := range t.Statuses {
		s += string("#,"[min(i, 1)]) + strconv.Itoa(n)
	}
	return s
}

func (t *Target) address() string { return net.JoinHostPort(t.Host, t.Port) }

func (t *Target) expects(status int) bool {
	if len(t.Statuses) == 0 {
		return status >= 200 && status <= 299
	}
	return slices.Contains(t.Statuses, status)
}

// Shown is a user's text for a message, without what may be a secret in it: a
// user name and password, a query. An @ behind a ? may end either.
func Shown(text string) string {
	scheme := ""
	if i := strings.Index(text, "://"); i >= 0 {
		scheme, text = text[:i+3], text[i+3:]
	}
	text, query, hidden := strings.Cut(text, "?")
	if strings.Contains(query, "@") || strings.Contains(scheme, "@") || strings.Contains(scheme, "?") {
		return "…"
	}
	if at := strings.LastIndexByte(text, '@'); at >= 0 {
		text = "…" + text[at:]
	}
	if hidden {
		text += "?…"
	}
	return scheme + text
}
