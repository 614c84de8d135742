package omnigraph

// verb is what there is to know of a command.
type verb struct {
	read bool // it changes nothing: no graph, no configuration, no file
	uri  bool // its first positional argument is the graph's storage
	here bool // it addresses no graph and no server
}

// verbs are the documented commands by their full names. One is a read only if
// the documentation says that it reads, and it can be repeated at no risk. So
// what is missing here is a write: alias may invoke a mutation, changes
// baseline replaces a file, the cluster family takes locks and leases.
var verbs = map[string]verb{
	"query":            {read: true},
	"export":           {read: true, uri: true},
	"snapshot":         {read: true, uri: true},
	"graphs list":      {read: true},
	"branch list":      {read: true},
	"blob get":         {read: true},
	"blob stat":        {read: true},
	"commit list":      {read: true, uri: true},
	"commit show":      {read: true},
	"commit changes":   {read: true},
	"changes poll":     {read: true},
	"schema show":      {read: true, uri: true},
	"schema plan":      {read: true, uri: true},
	"lint":             {read: true, uri: true},
	"queries list":     {read: true},
	"queries validate": {read: true},
	"policy validate":  {read: true},
	"policy test":      {read: true},
	"policy explain":   {read: true},
	"profile list":     {read: true, here: true},
	"profile show":     {read: true, here: true},
	"version":          {read: true, here: true},
	"help":             {read: true, here: true},

	"mutate":                    {},
	"load":                      {uri: true},
	"branch create":             {},
	"branch delete":             {},
	"branch merge":              {},
	"changes baseline":          {},
	"schema apply":              {uri: true},
	"init":                      {uri: true},
	"optimize":                  {uri: true},
	"repair":                    {uri: true},
	"cleanup":                   {uri: true},
	"rebuild-full-text-indexes": {uri: true},
	"alias":                     {},
	"embed":                     {here: true},
	"login":                     {here: true},
	"logout":                    {here: true},
	"use":                       {here: true},
}

// families are the commands that need a second word.
var families = map[string]bool{
	"branch": true, "blob": true, "commit": true, "changes": true, "schema": true,
	"graphs": true, "queries": true, "policy": true, "profile": true, "cluster": true,
}

// aliases are other names of commands, in full.
var aliases = map[string]string{
	"read":       "query",
	"change":     "mutate",
	"check":      "lint",
	"ingest":     "load",
	"schema get": "schema show",
}

// canonical is a command's own name.
func canonical(name string) string {
	if own, ok := aliases[name]; ok {
		return own
	}
	return name
}
