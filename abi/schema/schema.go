// Package schema holds JSON Schemas (draft 2020-12) of the contract's messages
// and of the policy document. What a host sends is closed: the plugin refuses
// unknown fields. What the plugin answers is open: a newer one may add some.
//
// log-event.json, report.json and outages.json are of files that the tool
// writes; they are open too.
package schema

import "embed"

// Files are the schemas by name: policy.json, event.json and so on. They refer
// to each other by their names.
//
//go:embed *.json
var Files embed.FS

// Policy is the schema of a policy document, which refers to no other.
//
//go:embed policy.json
var Policy []byte
