package measure

import (
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Target is what is watched: a port, an HTTP health check, or a command that is
// tried itself.
type Target struct {
	Scheme   string // tcp, http or https; "" for a command
	Host     string // a name or an address, without brackets
	Port     string // decimal
	Path     string // of HTTP, with a query if it has one
	Statuses []int  // of HTTP, that say ready; none: 200 to 299
	Command  []string
}

// defaultPath is where many a server answers for its health.
const defaultPath = "/healthz"

const forms = `tcp://host:port or http(s)://host[:port][/path][#status,…]`

// ParseTarget reads tcp://host:port or an HTTP URL. One without a path is asked
// for /healthz. Statuses that say ready stand behind a #, such as
// http://graph:8080/health#200,204.
func ParseTarget(text string) (Target, error) {
	t, err := parseTarget(text)
	if err != nil {
		return Target{}, fmt.Errorf("the target %w; expected %s, or -- and a command", err, forms)
	}
	return t, nil
}

// parseTarget's errors do not quote the text: it may hold a password.
func parseTarget(text string) (Target, error) {
	u, err := url.Parse(text)
	if err != nil {
		return Target{}, fmt.Errorf("is no URL")
	}
	t := Target{Scheme: strings.ToLower(u.Scheme), Host: u.Hostname(), Port: u.Port()}
	switch {
	case !slices.Contains([]string{"tcp", "http", "https"}, t.Scheme):
		return t, fmt.Errorf("has none of the schemes tcp, http and https")
	case u.User != nil:
		return t, fmt.Errorf("has a user name, which is not sent")
	case t.Host == "":
		return t, fmt.Errorf("has no host")
	case t.Scheme == "tcp" && (strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != ""):
		return t, fmt.Errorf("has more than a host and a port")
	case t.Scheme == "tcp" && t.Port == "":
		return t, fmt.Errorf("has no port")
	}
	if t.Port == "" {
		t.Port = map[string]string{"http": "80", "https": "443"}[t.Scheme]
	}
	if n, err := strconv.Atoi(t.Port); err != nil || n < 1 || n > 65535 {
		return t, fmt.Errorf("has the port %q, which is not from 1 to 65535", t.Port)
	}
	if t.Scheme == "tcp" {
		return t, nil
	}
	if t.Path = u.RequestURI(); u.Path == "" && u.RawQuery == "" {
		t.Path = defaultPath
	}
	t.Statuses, err = parseStatuses(u.Fragment)
	return t, err
}

func parseStatuses(list string) (statuses []int, err error) {
	if list == "" {
		return nil, nil
	}
	for word := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || n < 200 || n > 599 {
			return nil, fmt.Errorf("has the status %q, which is not from 200 to 599", word)
		}
		statuses = append(statuses, n)
	}
	return statuses, nil
}

// String names the target for people and files, without what may be a secret: a
// URL's query, and a command's arguments.
func (t *Target) String() string {
	if t.Scheme == "" {
		return "command " + filepath.Base(t.Command[0])
	}
	path, _, _ := strings.Cut(t.Path, "?")
	return t.Scheme + "://" + t.address() + path
}

func (t *Target) address() string { return net.JoinHostPort(t.Host, t.Port) }

func (t *Target) expects(status int) bool {
	if len(t.Statuses) == 0 {
		return status >= 200 && status <= 299
	}
	return slices.Contains(t.Statuses, status)
}
