package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
)

// names are what the outside calls the project: nothing else in this folder spells
// them. The owner sets them in names.json, as docs/releasing.md says.
type names struct {
	Module         string `json:"module"`          // of Go, as in go.mod
	Package        string `json:"package"`         // of Debian's and Red Hat's
	PyPI           string `json:"pypi"`            // as in python/pyproject.toml
	NPM            string `json:"npm"`             // as in js/package.json
	Image          string `json:"image"`           // the tool's repository in a registry
	PluginArtifact string `json:"plugin_artifact"` // the plugin's repository there
	Maintainer     string `json:"maintainer"`      // a name and an address
	Homepage       string `json:"homepage"`        // empty: none yet
	Summary        string `json:"summary"`
}

//go:embed names.json
var namesFile []byte

func readNames() (n names, err error) {
	d := json.NewDecoder(bytes.NewReader(namesFile))
	d.DisallowUnknownFields()
	if err := d.Decode(&n); err != nil {
		return n, fmt.Errorf("names.json: %w", err)
	}
	return n, nil
}
