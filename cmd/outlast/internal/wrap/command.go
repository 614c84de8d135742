package wrap

import (
	"path/filepath"
	"strings"

	"outlast/abi"
	"outlast/cmd/outlast/internal/library"
	"outlast/commands"
	"outlast/commands/omnigraph"
	"outlast/host"
	"outlast/process"
)

// Command is what is known of the command that is called.
type Command struct {
	Name  string                // of the command, if it is one whose lines can be read; "": of another nothing is known
	Known bool                  // the program surely is that command, and not another of its name
	Graph *omnigraph.Invocation // nil: another command than omnigraph

	params omnigraph.Params // of omnigraph
	line   commands.Line    // of another command
}

// ReadLine reads a command line, for a command that is called by a name that is
// known. env is the environment in which the command runs.
func ReadLine(argv, env []string) Command {
	c := Command{Name: library.For(argv[0])}
	switch c.Name {
	case "":
	case "omnigraph":
		inv := omnigraph.Parse(argv)
		c.Graph, c.params = &inv, inv.Params()
	default:
		c.line = commands.Parse(argv, env)
	}
	return c
}

// recognise looks at the program, too: whether it is the command whose name it
// has, and in which environment that runs. A script may do anything, before and
// after, whatever its name.
func recognise(argv, env, wrappers []string) Command {
	lineEnv, known := env, false
	name := library.For(argv[0])
	path, err := process.LookPath(argv[0])
	if name != "" && err == nil {
		program := commands.Program{Path: path, Env: env, Wrappers: wrappers}
		if itsEnv, ok := program.Is(name); ok {
			lineEnv, known = itsEnv, true
		}
	}
	c := ReadLine(argv, lineEnv)
	c.Known = known
	if !known {
		c.params, c.line.Direct = omnigraph.Params{}, false
	}
	return c
}

// Call is the call as the command line tells of it. A line that only reads is a
// read, whatever stands behind the name. Of a command that is not known nothing
// is, so it is a write over the network.
func (c *Command) Call(argv0 string) host.Call {
	if c.Graph != nil {
		return host.Call{Label: label(c.Graph.Verb), Remote: c.Graph.Remote, Read: !c.Graph.Write}
	}
	return host.Call{Label: label(argv0), Remote: true, Read: c.line.Read}
}

// OneRequest says whether the line makes one request that can have effects; nil:
// the policy's rules decide.
func (c *Command) OneRequest() *bool {
	if c.Graph != nil {
		return c.Graph.OneRequest()
	}
	return &c.line.Direct
}

// Sent is what the line tells of an attempt's request, which no text does: whether
// any of it was sent.
func (c *Command) Sent(r *abi.Result) abi.Sent {
	if c.Graph != nil {
		return c.params.Sent(r)
	}
	return c.line.Sent(r)
}

// label is a command's name for messages, at most 64 bytes of it (a choice).
func label(command string) string {
	name := filepath.Base(command)
	return strings.ToValidUTF8(name[:min(len(name), 64)], "")
}
