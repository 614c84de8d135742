// Package commands has what is known of common commands, a folder for each: its
// policy, how its command line is read, and what it really prints.
//
// Each policy is a document as a user would write one, recognises what the
// command itself prints when it cannot connect, and repeats a write only where
// the host says that nothing of it was sent. Of that a command line tells what
// no text can: that an invocation changes nothing, and that a failure to connect
// means that nothing of it was sent. Its reader is exact about what it is sure
// of and knows nothing of the rest: an option that it does not know makes it
// sure of nothing. Being unsure costs a retry of a write; being wrong would
// repeat one.
package commands

import (
	"embed"
	"fmt"
	"path"

	"outlast/abi"
	"outlast/abi/fields"
	"outlast/abi/strictjson"
	"outlast/commands/curl"
	"outlast/commands/git"
	"outlast/commands/internal/line"
	"outlast/commands/kubectl"
	"outlast/commands/omnigraph"
	"outlast/commands/psql"
	rediscli "outlast/commands/redis-cli"
)

//go:embed */policy.json */sample*.json
var files embed.FS

// known are the commands of which more is known than a policy; a test compares
// them with the folders that have Go files.
var known = map[string]line.Command{
	"curl":      curl.Command,
	"git":       git.Command,
	"kubectl":   kubectl.Command,
	"omnigraph": omnigraph.Command,
	"psql":      psql.Command,
	"redis-cli": rediscli.Command,
}

// Names are the policies that come with outlast, sorted. Each is for the command
// of its name, which is its folder's.
func Names() []string {
	folders, err := files.ReadDir(".")
	if err != nil {
		panic(err) // they are embedded
	}
	var names []string
	for _, folder := range folders {
		if Policy(folder.Name()) != "" {
			names = append(names, folder.Name())
		}
	}
	return names
}

// Policy is the text of a policy as its author wrote it, "" if there is none of
// that name.
func Policy(name string) string {
	return read(name, "policy.json")
}

// Ending is a way in which a command may end.
type Ending string

// The endings of which there are samples, by their files.
const (
	Refused Ending = "sample.json"        // nobody listens
	Full    Ending = "sample_full.json"   // the server has as many calls as it takes
	Broken  Ending = "sample_broken.json" // the server goes away in the midst of the call
)

// Sample is how a command ends, as it was seen to; ok is false where that is not
// known.
func Sample(name string, what Ending) (r abi.Result, ok bool) {
	text := read(name, string(what))
	if text == "" {
		return r, false
	}
	limits := strictjson.Limits{Bytes: abi.MaxRequestBytes, Depth: abi.MaxDepth}
	if faults, err := fields.Read(text, limits, fields.Strict, &r); err != nil || len(faults) > 0 {
		panic(fmt.Sprintf("commands/%s/%s: %v: %v", name, what, err, faults)) // it is embedded, and tested
	}
	return r, true
}

// read is a file of a command's folder, "" if there is none.
func read(name, file string) string {
	text, err := files.ReadFile(path.Join(name, file))
	if err != nil || name != path.Base(name) {
		return ""
	}
	return string(text)
}

// For is the name of the policy for a command, by its base name; "" if there is
// none.
func For(argv0 string) string {
	if name := line.Base(argv0); Policy(name) != "" {
		return name
	}
	return ""
}

// Line is what a command line tells before it runs. The zero Line tells nothing.
type Line = line.Line

// Parse reads a command line; argv[0] is the command, which is known by its base
// name: whether it is that command is another question, which Program.Is answers.
// env is the command's environment, as "NAME=value": it, and files in the user's
// home, may change what a command does.
func Parse(argv, env []string) Line {
	if len(argv) == 0 {
		return Line{}
	}
	if parse := known[line.Base(argv[0])].Parse; parse != nil {
		return parse(argv, env)
	}
	return Line{} // of ssh too: what it runs is somebody else's command line
}
