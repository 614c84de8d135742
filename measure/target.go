package measure

import (
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"

	"outlast/ready"
)

// Target is what is watched: a port or an HTTP health check, or a command that is
// tried itself.
type Target struct {
	ready.Target
	Command []string // nil: the other
}

const forms = `tcp://host:port or http(s)://host[:port][/path][#status,…]`

// ParseTarget reads tcp://host:port or an HTTP URL. One without a path is asked
// for /healthz. Statuses that say ready stand behind a #, such as
// http://graph:8080/health#200,204.
func ParseTarget(text string) (Target, error) {
	t, err := ready.ParseTarget(text)
	if err != nil {
		return Target{}, fmt.Errorf("the target %w; expected %s, or -- and a command", err, forms)
	}
	return Target{Target: t}, nil
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
