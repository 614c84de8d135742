package standin

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// local writes a line to the store's ledger, or reads them all.
func (c *cli) local() int {
	e := &exchange{cli: c, effectful: 1}
	if c.verb.banner && !c.quiet {
		fmt.Fprintf(c.stderr, "omnigraph %s → %s (direct)\n", c.name, c.store)
	}
	if text := os.Getenv("STANDIN_FAILS"); text != "" {
		return e.fail(causes{text})
	}
	path := filepath.Join(c.store, "ledger")
	if c.verb.read {
		text, err := os.ReadFile(path)
		if err != nil {
			return e.fail(causes{"storage: Dataset at path " + c.store + " was not found: Not found: " + path})
		}
		fmt.Fprintf(c.stdout, `{"rows":[%s],"columns":[]}`+"\n", strings.Join(strings.Split(strings.TrimSpace(string(text)), "\n"), ","))
		return 0
	}
	err := os.MkdirAll(c.store, 0o755)
	if err == nil {
		err = appendLine(path, c.params)
	}
	if err != nil {
		return e.fail(err)
	}
	return 0
}

// note tells a test what was run, when, by whom, and whether anybody held the
// lock of the store meanwhile.
func note(args []string, began time.Time) {
	path := os.Getenv("STANDIN_LOG")
	if path == "" {
		return
	}
	locked := false
	for i, arg := range args {
		if arg == "--store" && i+1 < len(args) {
			locked = isLocked(args[i+1] + ".lock")
		}
	}
	line, err := json.Marshal(map[string]any{
		"args": args, "pid": os.Getpid(), "ppid": os.Getppid(), "locked": locked, "argv0": os.Args[0], "began": began.UnixNano(),
	})
	if err == nil {
		err = appendLine(path, string(line))
	}
	if err != nil {
		panic(err)
	}
}

// appendLine is one write, so that the lines of several processes do not mix.
func appendLine(path, line string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = file.WriteString(line + "\n")
	return err
}
