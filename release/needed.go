package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

var pythonNeeds = regexp.MustCompile(`(?m)^dependencies = \[(.*)\]$`)

// neededByPackages are what the wheel and the npm package ask a registry for when
// they are installed. What they ask for may be a range.
func (r *release) neededByPackages() (list []cdx.Component, err error) {
	text, err := os.ReadFile(filepath.Join(r.root, "js/package.json"))
	if err != nil {
		return nil, err
	}
	var manifest struct {
		Dependencies map[string]string `json:"dependencies"`
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		return nil, err
	}
	found := map[string]cdx.Component{}
	for name, version := range manifest.Dependencies {
		purl := "pkg:npm/" + strings.Replace(name, "@", "%40", 1)
		found[purl] = cdx.Component{Type: cdx.ComponentTypeLibrary, BOMRef: purl, Name: name, Version: version, PackageURL: purl}
	}
	if text, err = os.ReadFile(filepath.Join(r.root, "python/pyproject.toml")); err != nil {
		return nil, err
	}
	for _, m := range pythonNeeds.FindAllSubmatch(text, -1) {
		for _, need := range regexp.MustCompile(`"([A-Za-z0-9._-]+)([^"]*)"`).FindAllSubmatch(m[1], -1) {
			purl := "pkg:pypi/" + string(need[1])
			found[purl] = cdx.Component{Type: cdx.ComponentTypeLibrary, BOMRef: purl, Name: string(need[1]), Version: string(need[2]), PackageURL: purl}
		}
	}
	return byRef(found), nil
}
