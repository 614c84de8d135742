package standin

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// refusal is a failure in the server's own words.
type refusal struct {
	told
	status     int
	retryAfter string
	lostRace   bool // a 412 that answers this command's own --if-commit
}

func (r *refusal) Error() string { return r.text }

// contractError is a server that did not speak this release's contract.
type contractError struct {
	text       string
	status     int // 0: nobody answered
	dispatched bool
}

func (c *contractError) Error() string {
	if c.status == 0 {
		return c.text
	}
	return fmt.Sprintf("%s (HTTP %d)", c.text, c.status)
}

func (c *contractError) members() []member {
	var status any
	if c.status != 0 {
		status = c.status
	}
	return []member{{"error", c.text}, {"code", mismatch}, {"http_status", status}, {"request_dispatched", c.dispatched}}
}

// fail prints a failure in the way of the release, the verb and the format, and
// is the exit code.
func (e *exchange) fail(err error) int {
	var r *refusal
	var c *contractError
	switch {
	case !e.release.discovers():
		return e.failedBefore012(err)
	case e.verb.tells:
		return e.failedWrite(err)
	case errors.As(err, &r):
		if text, diagnosed := r.forPeople(); e.format == forPeople && diagnosed {
			fmt.Fprintln(e.stderr, text)
			return 1
		}
		if e.format != forPeople {
			e.object(r.members())
			return 1
		}
	case errors.As(err, &c) && e.format != forPeople:
		e.object(c.members())
		return 1
	}
	return e.report(err)
}

// object prints one JSON object on stdout.
func (c *cli) object(value any) {
	if c.format == line {
		fmt.Fprintln(c.stdout, encode(value))
	} else {
		fmt.Fprintln(c.stdout, indented(value))
	}
}

// report prints a failure as color-eyre does: a message and its causes, colours
// and all, and before 0.12 where in the source it was made.
func (c *cli) report(err error) int {
	var chain causes
	if !errors.As(err, &chain) {
		chain = causes{err.Error()}
	}
	fmt.Fprint(c.stderr, "Error: \n")
	for i, text := range chain {
		fmt.Fprintf(c.stderr, "%4d: %s\n", i, hanging("\x1b[91m"+text+"\x1b[0m"))
	}
	if !c.release.discovers() {
		at := map[bool]int{true: 515, false: 523}[c.release.minor == 10]
		fmt.Fprintf(c.stderr, "\nLocation:\n   \x1b[35mcrates/omnigraph-cli/src/helpers.rs\x1b[0m:\x1b[35m%d\x1b[0m\n\n"+
			"Backtrace omitted. Run with RUST_BACKTRACE=1 environment variable to display it.\n"+
			"Run with RUST_BACKTRACE=full to include source snippets.\n", at)
	}
	return 1
}

// hanging sets all lines but the first, and none that is empty, further in.
func hanging(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if i > 0 && l != "" {
			lines[i] = "      " + l
		}
	}
	return strings.Join(lines, "\n")
}

// failedBefore012 prints a report, whatever the format: a failed precondition
// alone has a text, an object and an exit code of its own.
func (e *exchange) failedBefore012(err error) int {
	var r *refusal
	if !errors.As(err, &r) || r.status != http.StatusPreconditionFailed {
		return e.report(err)
	}
	if e.format == forPeople {
		fmt.Fprintln(e.stderr, r.text)
	} else {
		e.object(r.members())
	}
	return preconditionExit
}
