// Package vectors holds the conformance cases of the contract as data, for
// runners in any language; README.md says how to read them. Package
// conformance is the runner for Go.
package vectors

import "embed"

// Files are the case files, by name: all of *.json in this folder.
//
//go:embed *.json
var Files embed.FS
