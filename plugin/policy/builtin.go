package policy

import (
	_ "embed"
	"sync"

	"outlast/abi"
)

//go:embed builtin/omnigraph.json
var omnigraphText string

//go:embed builtin/witan-core.json
var witanCoreText string

//go:embed builtin/network.json
var networkText string

// builtIn is a policy that the plugin carries, parsed when it is first used.
type builtIn struct {
	name, text string
	document   func() *Document
}

var builtIns = []builtIn{
	newBuiltIn("omnigraph", omnigraphText),
	newBuiltIn("witan-core", witanCoreText),
	newBuiltIn("network", networkText),
}

func newBuiltIn(name, text string) builtIn {
	return builtIn{name, text, sync.OnceValue(func() *Document {
		doc, err := Parse(text)
		if err != nil {
			panic("policy: built-in " + name + ": " + err.Error())
		}
		return doc
	})}
}

// BuiltIn is the built-in policy of a name. The error is an *abi.Error of code
// unknown_policy that lists the names.
func BuiltIn(name string) (*Document, error) {
	list := ""
	for i, b := range builtIns {
		if b.name == name {
			return b.document(), nil
		}
		if i > 0 {
			list += ", "
		}
		list += b.name
	}
	return nil, &abi.Error{
		Code: abi.CodeUnknownPolicy, Field: "policy",
		Message: `there is no built-in policy called "` + name + `"; there are ` + list,
	}
}

// Source is the text of a built-in policy as its author wrote it, "" if there is none.
func Source(name string) string {
	for _, b := range builtIns {
		if b.name == name {
			return b.text
		}
	}
	return ""
}

// Names are the built-in policies, the default of a command line first.
func Names() []string {
	var names []string
	for _, b := range builtIns {
		names = append(names, b.name)
	}
	return names
}
