package standin

import "strings"

// verb is what the command knows of one of its verbs: the request that it makes
// of a server, and how it fails.
type verb struct {
	method  string
	path    string // below the graph; NAME is the first operand
	read    bool
	tells   bool // from 0.12 on a failure ends with command_outcome
	banner  bool // a line on stderr comes first
	cluster bool // it is asked of the server, not of a graph
}

var verbs = map[string]verb{
	"query":         {method: "POST", path: "/query", read: true},
	"snapshot":      {method: "GET", path: "/snapshot", read: true},
	"export":        {method: "GET", path: "/export", read: true},
	"mutate":        {method: "POST", path: "/mutate", tells: true},
	"load":          {method: "POST", path: "/load/ndjson?branch=main&mode=merge", tells: true, banner: true},
	"branch create": {method: "POST", path: "/branches", tells: true, banner: true},
	"branch delete": {method: "DELETE", path: "/branches/NAME", tells: true, banner: true},
	"branch merge":  {method: "POST", path: "/branches/merge", tells: true, banner: true},
	"schema apply":  {method: "POST", path: "/schema/apply", tells: true, banner: true},
	"optimize":      {method: "POST", path: "/optimize", banner: true},
	"repair":        {method: "POST", path: "/repair", banner: true},
	"cleanup":       {method: "POST", path: "/cleanup", banner: true},
	"cluster apply": {method: "POST", path: "/cluster/apply", cluster: true},
}

// cutVerb takes the verb, of one word or two, off the words of a command line.
func cutVerb(words []string) (name string, rest []string, ok bool) {
	for n := min(2, len(words)); n > 0; n-- {
		name = strings.Join(words[:n], " ")
		if _, ok = verbs[name]; ok {
			return name, words[n:], true
		}
	}
	return "", words, false
}
