package omnigraph

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"outlast/internal/environ"
	"outlast/internal/plainyaml"
)

// config is the user's configuration of omnigraph, read when it is needed.
type config struct{ env []string }

// server is the URL of a server that is named, or is one itself.
func (c config) server(where, name string) (string, error) {
	if strings.Contains(name, "://") {
		return httpURL(where, name)
	}
	root, path, err := c.read()
	if err != nil {
		return "", err
	}
	url, err := root.texts("servers", name, "url")
	switch {
	case err != nil:
		return "", fmt.Errorf("%s: %w", path, err)
	case url == "":
		return "", fmt.Errorf("%s has no server of the name that %s gives", path, where)
	}
	return httpURL(path, url)
}

// httpURL is a server's URL, if it is one of HTTP.
func httpURL(where, url string) (string, error) {
	if scheme, _, _ := strings.Cut(url, "://"); !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https") {
		return "", fmt.Errorf("the server that %s gives is no URL of HTTP", where)
	}
	return url, nil
}

// profile is the URL of the server of a profile.
func (c config) profile(where, name string) (string, error) {
	root, path, err := c.read()
	if err != nil {
		return "", err
	}
	bound := map[string]string{}
	for _, kind := range []string{"server", "cluster", "store"} {
		value, err := root.texts("profiles", name, kind)
		if err != nil {
			return "", fmt.Errorf("%s: %w", path, err)
		}
		if value != "" {
			bound[kind] = value
		}
	}
	switch {
	case len(bound) == 0:
		return "", fmt.Errorf("%s has no address for the profile that %s gives", path, where)
	case len(bound) > 1:
		return "", fmt.Errorf("%s has more than one address for the profile that %s gives", path, where)
	case bound["server"] == "":
		return "", nil // a cluster or a store
	}
	return c.server(path, bound["server"])
}

// defaults is the URL of the server that a command goes to if nothing says
// otherwise.
func (c config) defaults() (string, error) {
	root, path, err := c.read()
	if err != nil {
		return "", err
	}
	server, err := root.texts("defaults", "server")
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	store, err := root.texts("defaults", "store")
	switch {
	case err != nil:
		return "", fmt.Errorf("%s: %w", path, err)
	case server != "" && store != "":
		return "", fmt.Errorf("%s has two default addresses", path)
	case store != "":
		return "", nil
	case server == "":
		return "", fmt.Errorf("neither the command line nor %s names a server", path)
	}
	return c.server(path, server)
}

// maxConfig bounds the file (a choice: it holds a few names and URLs).
const maxConfig = 1 << 20

// read reads the file; one that is not there is empty.
func (c config) read() (root mapping, path string, err error) {
	path, err = c.path()
	if err != nil {
		return mapping{}, "", err
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return mapping{}, path, nil
	case err != nil:
		return mapping{}, path, fmt.Errorf("%s cannot be read", path)
	case !info.Mode().IsRegular():
		return mapping{}, path, fmt.Errorf("%s is not a regular file", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return mapping{}, path, fmt.Errorf("%s cannot be read", path)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxConfig+1))
	switch {
	case err != nil:
		return mapping{}, path, fmt.Errorf("%s cannot be read", path)
	case len(text) > maxConfig:
		return mapping{}, path, fmt.Errorf("%s is longer than %d bytes", path, maxConfig)
	}
	if root.node, err = plainyaml.Parse(string(text)); err != nil {
		return mapping{}, path, fmt.Errorf("%s: %w", path, errOdd)
	}
	return root, path, nil
}

// path is where the file is.
func (c config) path() (string, error) {
	const name = "config.yaml"
	folder, given := environ.Find(c.env, homeVar)
	rest, inHome := strings.CutPrefix(folder+"/", "~/")
	switch {
	case given && folder == "":
		return "", fmt.Errorf("%s is empty", homeVar)
	case given && !inHome:
		return filepath.Join(folder, name), nil
	}
	home, ok := environ.Find(c.env, "HOME")
	if !ok {
		u, err := user.LookupId(strconv.Itoa(os.Getuid()))
		if err != nil {
			return "", fmt.Errorf("there is no home directory to look for omnigraph's configuration in")
		}
		home = u.HomeDir
	}
	if given {
		return filepath.Join(home, rest, name), nil
	}
	return filepath.Join(home, ".omnigraph", name), nil
}

// mapping is a mapping of a file; without a node, an empty one.
type mapping struct{ node ast.Node }

// errOdd is the error of YAML that may mean something else here than to
// omnigraph.
var errOdd = errors.New("expected plain mappings of texts")

// texts is the text at a path of names, "" if there is none.
func (m mapping) texts(names ...string) (string, error) {
	for i, name := range names {
		next, err := m.member(name)
		if err != nil || next == nil {
			return "", err
		}
		if text, ok := next.(*ast.StringNode); ok && i == len(names)-1 {
			return text.Value, nil
		}
		m.node = next
	}
	return "", errOdd // it ends with something else
}

// member is a member's value, nil if there is none or it is null.
func (m mapping) member(name string) (value ast.Node, err error) {
	members, ok := plainyaml.Members(m.node)
	if _, null := m.node.(*ast.NullNode); !ok && !null && m.node != nil {
		return nil, errOdd
	}
	found := false
	for _, member := range members {
		key, ok := member.Key.(*ast.StringNode)
		if !ok || key.Value != name {
			continue
		}
		if found {
			return nil, fmt.Errorf("has a name twice")
		}
		found, value = true, member.Value
	}
	if _, null := value.(*ast.NullNode); null {
		return nil, nil
	}
	return value, nil
}
