package standin

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// remote asks a server.
func (c *cli) remote() int {
	e := c.exchange()
	if err := e.run(); err != nil {
		return e.fail(err)
	}
	return 0
}

func (e *exchange) run() error {
	if e.verb.cluster {
		return e.applyCluster()
	}
	base, err := e.base()
	if err != nil {
		return err
	}
	if e.verb.banner && !e.quiet {
		fmt.Fprintf(e.stderr, "omnigraph %s → %s (served)\n", e.name, e.server+base)
	}
	path := e.verb.path
	if len(e.operands) > 0 {
		path = strings.ReplaceAll(path, "NAME", e.operands[0])
	}
	if e.ifCommit != "" {
		path += "/if-graph-commit"
	}
	value, raw, err := e.ask(e.verb.method, base+path, e.body())
	if err != nil {
		return err
	}
	e.show(value, raw)
	return nil
}

// base is the graph's path. Where the line names none, the server is asked which
// it has; since 0.12 only a failure of the contract ends the command there.
func (e *exchange) base() (string, error) {
	if e.graph != "" {
		return "/graphs/" + e.graph, nil
	}
	list, _, err := e.ask(http.MethodGet, "/graphs", "")
	var c *contractError
	if errors.As(err, &c) {
		return "", err
	}
	object, _ := list.(map[string]any)
	if graphs, _ := object["graphs"].([]any); len(graphs) > 0 {
		return "", causes{fmt.Sprintf("server scope '%s' has %d graph: [g]; pass --graph <id> to select one (or set `default_graph` in your operator config)", e.server, len(graphs))}
	}
	return "", nil
}

// body is what the command sends: its first operand and its parameters.
func (e *exchange) body() string {
	name := ""
	if len(e.operands) > 0 {
		name = e.operands[0]
	}
	return encode([]member{{"name", name}, {"params", e.params}})
}

// show prints an answer. What people get of it is its member human, or all.
func (e *exchange) show(value any, raw string) {
	object, _ := value.(map[string]any)
	text, told := object["human"].(string)
	switch {
	case e.format != forPeople:
		e.object(value)
	case told:
		fmt.Fprintln(e.stdout, text)
	default:
		fmt.Fprintln(e.stdout, strings.TrimSpace(raw))
	}
}

// applyCluster submits a deployment and then looks what became of it. If the look
// fails, it says "not sent", but only of itself: the submission has been applied.
func (e *exchange) applyCluster() error {
	_, _, err := e.ask(http.MethodPost, e.verb.path, e.body())
	if err != nil {
		return err
	}
	fmt.Fprintln(e.stderr, "Deployment-ID: 01DEP")
	value, raw, err := e.ask(http.MethodGet, "/cluster/status", "")
	if err != nil {
		fmt.Fprintln(e.stderr, "Deployment-ID: 01DEP; observation failed; never resubmit unknown work")
		return err
	}
	e.show(value, raw)
	return nil
}
