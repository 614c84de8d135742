package omnigraph

// verb is what there is to know of a command.
type verb struct {
	read bool // it changes nothing: no graph, no configuration, no file
	uri  bool // its first positional argument is the graph's storage
	here bool // it addresses no graph and no server
	// account: a failure of it ends with a command_outcome (0.12 and later), and it
	// makes one request that can have effects. A verb without one prints as a read
	// does, though it writes, and may make several.
	account bool
}

// verbs are the documented commands by their full names. One is a read only if
// the documentation says that it reads, and it can be repeated at no risk. So
// what is missing here is a write: alias may invoke a mutation, changes
// baseline replaces a file, most of the cluster family takes locks and leases.
// What a release dropped stays: the ones before it have it.
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

	"cluster observe":   {read: true},
	"cluster operation": {read: true},
	"cluster history":   {read: true},

	"mutate":        {account: true},
	"load":          {uri: true, account: true},
	"branch create": {account: true},
	"branch delete": {account: true},
	"branch merge":  {account: true},
	"schema apply":  {uri: true, account: true},

	"changes baseline":              {},
	"upgrade":                       {uri: true},
	"schema upgrade-system-columns": {uri: true},
	"init":                          {uri: true},
	"optimize":                      {uri: true},
	"repair":                        {uri: true},
	"cleanup":                       {uri: true},
	"rebuild-full-text-indexes":     {uri: true},
	"alias":                         {},
	"embed":                         {here: true},
	"login":                         {here: true},
	"logout":                        {here: true},
	"use":                           {here: true},

	"cluster apply":          {},
	"cluster status":         {},
	"cluster upgrade-ledger": {},
	"cluster create":         {},
	"cluster push":           {},
	"cluster delete":         {},
	"cluster undo-delete":    {},
	"cluster token":          {},
	"cluster cancel":         {},
	"cluster force-unlock":   {},
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

// OneRequest says whether a write is known to make one request that can have
// effects, so that what it prints of that request is all that there is to say:
// true of the verbs that give an account of their whole command, nil of others
// that open their store themselves, and false of the rest. cluster apply, for
// one, says "not sent" of a later look, after it has submitted its work.
func (inv Invocation) OneRequest() *bool {
	verb, known := verbs[inv.Verb]
	one := known && verb.account && !inv.Ambiguous
	if !one && known && !inv.Remote && !inv.Ambiguous {
		return nil
	}
	return &one
}
