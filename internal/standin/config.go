package standin

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/goccy/go-yaml"
)

// configured resolves a server's name, or the default one, by the operator's
// config.yaml, and warns of what it does not know there, as the command does.
func (c *cli) configured() (fault string) {
	folder := os.Getenv("OMNIGRAPH_HOME")
	if folder == "" {
		home, _ := os.UserHomeDir()
		folder = filepath.Join(home, ".omnigraph")
	}
	path := filepath.Join(folder, "config.yaml")
	text, err := os.ReadFile(path)
	var config struct {
		Defaults map[string]string
		Servers  map[string]struct{ URL string }
	}
	if err == nil {
		err = yaml.Unmarshal(text, &config)
	}
	if err != nil || (c.server == "" && config.Defaults["server"] == "") {
		return "no target: pass --server, --store or a path"
	}
	for key := range config.Defaults {
		if key != "server" && key != "store" && key != "default_graph" {
			fmt.Fprintf(c.stderr, "warning: unknown key `defaults.%s` (newer CLI feature or typo); ignored in operator config '%s'\n", key, path)
		}
	}
	if c.server == "" {
		c.server = config.Defaults["server"]
		if c.graph == "" {
			c.graph = config.Defaults["default_graph"]
		}
	}
	if known, ok := config.Servers[c.server]; ok {
		c.server = strings.TrimRight(known.URL, "/")
	} else if !strings.Contains(c.server, "://") {
		return "unknown server '" + c.server + "'"
	}
	return ""
}
