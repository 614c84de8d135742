package standin

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

// format is how answers and failures are printed.
type format int

const (
	forPeople format = iota
	pretty           // --json, --format json
	line             // --format jsonl
)

// cli is one run of the command.
type cli struct {
	stdout, stderr io.Writer
	release        Release
	timeout        time.Duration // of the data request: only managed folders have one

	name     string
	verb     verb
	operands []string
	server   string
	graph    string
	store    string
	params   string
	ifCommit string
	format   format
	quiet    bool
}

// usageExit is what the command ends with where its line cannot be read.
const usageExit = 2

// Main is the command: omnigraph VERB … --server URL --graph G, or --store PATH.
// The environment sets what a real one is built as: STANDIN_RELEASE,
// STANDIN_TIMEOUT (of the data request; none without it), STANDIN_FAILS (a text
// with which a verb of a local store fails), and STANDIN_LOG (a file that gets
// one JSON object for each run).
func Main(args []string, stdout, stderr io.Writer) int {
	c := &cli{stdout: stdout, stderr: stderr}
	if err := c.environment(); err != nil {
		fmt.Fprintln(stderr, "standin:", err)
		return usageExit
	}
	defer note(args, time.Now())
	if len(args) == 1 && args[0] == "version" {
		fmt.Fprintf(stdout, "omnigraph %v.0\ninternal-schema %d (serves v%[2]d to v%[2]d)\n", c.release, c.release.schema())
		return 0
	}
	if fault := c.parse(args); fault != "" {
		fmt.Fprintf(stderr, "error: %s\n\nUsage: omnigraph [OPTIONS] <COMMAND>\n", fault)
		return usageExit
	}
	if c.store != "" {
		return c.local()
	}
	return c.remote()
}

func (c *cli) environment() (err error) {
	if c.release, err = ParseRelease(os.Getenv("STANDIN_RELEASE")); err != nil {
		return fmt.Errorf("STANDIN_RELEASE: %w", err)
	}
	if text := os.Getenv("STANDIN_TIMEOUT"); text != "" {
		if c.timeout, err = time.ParseDuration(text); err != nil {
			return fmt.Errorf("STANDIN_TIMEOUT: %w", err)
		}
	}
	return nil
}

// parse reads the line, and says what is wrong with it.
func (c *cli) parse(args []string) (fault string) {
	var found bool
	if c.name, args, found = cutVerb(args); !found {
		return "unexpected argument found"
	}
	c.verb = verbs[c.name]
	for len(args) > 0 {
		word := args[0]
		args = args[1:]
		if !strings.HasPrefix(word, "-") {
			c.operands = append(c.operands, word)
			continue
		}
		name, value, glued := strings.Cut(word, "=")
		if c.takesNoValue(name) {
			continue
		}
		if !glued {
			if len(args) == 0 {
				return "a value is required for '" + name + "'"
			}
			value, args = args[0], args[1:]
		}
		if fault := c.set(name, value); fault != "" {
			return fault
		}
	}
	return c.target()
}

func (c *cli) takesNoValue(name string) bool {
	switch name {
	case "--json":
		c.format = pretty
	case "--quiet", "-q":
		c.quiet = true
	default:
		return slices.Contains(switches, name)
	}
	return true
}

// switches are the flags without a value that change nothing here. Every other
// flag has one.
var switches = []string{
	"--yes", "--confirm", "--force", "--direct", "--managed", "--jsonl", "--delete-branch", "--allow-data-loss",
	"--wait", "--no-wait", "--writers-stopped", "--discovery", "--check", "--clear", "--observe",
}

func (c *cli) set(name, value string) (fault string) {
	switch name {
	case "--server":
		c.server = strings.TrimRight(value, "/")
	case "--graph":
		c.graph = value
	case "--store":
		c.store = value
	case "--params":
		c.params = value
	case "--params-file", "--data":
		text, err := os.ReadFile(value)
		if err != nil {
			return err.Error()
		}
		c.params = strings.TrimSpace(string(text))
	case "--if-commit":
		c.ifCommit = value
	case "--format":
		if !c.verb.read && c.release.discovers() {
			return "unexpected argument '--format' found"
		}
		c.format = map[string]format{"json": pretty, "jsonl": line}[value]
	}
	return ""
}

// target settles what the line is about: a path among the operands is a store.
func (c *cli) target() (fault string) {
	if n := len(c.operands); c.store == "" && c.server == "" && n > 0 && strings.HasSuffix(c.operands[n-1], ".omni") {
		c.store, c.operands = c.operands[n-1], c.operands[:n-1]
	}
	if c.store == "" && c.server == "" {
		return c.configured()
	}
	if c.server != "" && !strings.Contains(c.server, "://") {
		return c.configured()
	}
	return ""
}
