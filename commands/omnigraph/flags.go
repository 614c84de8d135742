package omnigraph

// role is what a flag's value says about where an invocation goes.
type role int

const (
	plainValue  role = iota
	noValue          // the flag stands alone
	helpFlag         // it stands alone, prints something and nothing else happens
	serverURL        // a server's address or name
	storeURI         // one graph's storage
	clusterURI       // a cluster's storage
	namedScope       // a destination that the user's configuration resolves
	profileName      // the same, if nothing else says where the invocation goes
	directFlag       // it stands alone, and has the folder's context passed over
	paramsText       // a query's parameters
	paramsFile       // the file that has them
)

// longFlags are all that are documented, of all commands: none takes a value
// for one command and none for another. The names are unique enough that the
// command need not be known to read them.
var longFlags = map[string]role{
	// of every command
	"as":      plainValue,
	"server":  serverURL,
	"graph":   plainValue,
	"profile": profileName,
	"target":  namedScope, // since 0.14
	"store":   storeURI,
	"cluster": clusterURI,
	"config":  plainValue,
	"direct":  directFlag,
	"yes":     noValue,
	"quiet":   noValue,
	"json":    noValue,
	"help":    helpFlag,
	"version": helpFlag,

	// query, mutate, alias, lint
	"query":        plainValue,
	"query-string": plainValue,
	"params":       paramsText,
	"params-file":  paramsFile,
	"branch":       plainValue,
	"snapshot":     plainValue,
	"format":       plainValue,
	"if-commit":    plainValue,
	"schema":       plainValue,

	// load, branch, export, blob
	"data":          plainValue,
	"from":          plainValue,
	"mode":          plainValue,
	"uri":           storeURI,
	"into":          plainValue,
	"delete-branch": noValue,
	"type":          plainValue,
	"jsonl":         noValue,
	"offset":        plainValue,
	"length":        plainValue,
	"out":           plainValue,

	// commit, changes
	"limit":      plainValue,
	"page-token": plainValue,
	"kind":       plainValue,
	"op":         plainValue,
	"cursor":     plainValue,
	"start":      plainValue,

	// init, schema, repair, cleanup
	"force":           noValue,
	"confirm":         noValue,
	"allow-data-loss": noValue,
	"keep":            plainValue,
	"older-than":      plainValue,

	// policy, embed, login, cluster
	"tests":           plainValue,
	"actor":           plainValue,
	"action":          plainValue,
	"target-branch":   plainValue,
	"seed":            plainValue,
	"input":           plainValue,
	"output":          plainValue,
	"spec":            plainValue,
	"select":          plainValue,
	"clean":           noValue,
	"reembed-all":     noValue,
	"token":           plainValue,
	"api":             plainValue,
	"actions":         plainValue,
	"ttl":             plainValue,
	"clear":           noValue,
	"observe":         noValue,
	"rev":             plainValue,
	"revision":        plainValue,
	"plan":            plainValue,
	"no-wait":         noValue,
	"timeout":         plainValue,
	"idempotency-key": plainValue,
	"since":           plainValue,

	// since 0.11: values of any verb, managed folders, deployments
	"set":               plainValue, // NAME=VALUE
	"managed":           noValue,
	"discovery":         noValue,
	"check":             noValue,
	"writers-stopped":   noValue,
	"deployment-id":     plainValue,
	"deletion-id":       plainValue,
	"incarnation":       plainValue,
	"expected-revision": plainValue,
	"message":           plainValue,
	"retention-seconds": plainValue,
	"to-format":         plainValue,
}

var shortFlags = map[byte]role{
	'e': plainValue, // --query-string
	'h': helpFlag,
	'v': helpFlag,
	'V': helpFlag,
}
