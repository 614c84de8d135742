package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"

	"outlast/plugin"
)

// bom writes what the programs and the two packages are made of, in CycloneDX.
func (r *release) bom() error {
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{
		Timestamp: r.when.Format(time.RFC3339),
		Component: &cdx.Component{
			Type: cdx.ComponentTypeApplication, BOMRef: "outlast", Name: r.Package, Version: r.version,
			PackageURL: "pkg:golang/" + r.Module + "@v" + r.version, Licenses: &cdx.Licenses{{License: &cdx.License{ID: "MIT"}}},
		},
	}
	components := []cdx.Component{{
		Type: cdx.ComponentTypeFile, BOMRef: "plugin", Name: "outlast.wasm", Version: r.version,
		Hashes: &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: strings.TrimSpace(plugin.SHA256)}},
	}}
	modules, err := r.modules()
	if err != nil {
		return err
	}
	components = append(components, modules...)
	needed, err := r.neededByPackages()
	if err != nil {
		return err
	}
	components = append(components, needed...)
	bom.Components = &components
	refs := make([]string, len(components))
	for i, c := range components {
		refs[i] = c.BOMRef
	}
	bom.Dependencies = &[]cdx.Dependency{{Ref: "outlast", Dependencies: &refs}}
	var text bytes.Buffer
	if err := cdx.NewBOMEncoder(&text, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom); err != nil {
		return err
	}
	return os.WriteFile(r.path("%s_%s.cdx.json", r.Package, r.version), text.Bytes(), 0o644)
}

// modules are those that any of the programs was linked from, as they tell it.
func (r *release) modules() ([]cdx.Component, error) {
	found := map[string]cdx.Component{}
	for _, t := range r.targets {
		info, err := buildinfo.ReadFile(r.programs[t])
		if err != nil {
			return nil, err
		}
		std := "pkg:golang/std@" + strings.TrimPrefix(info.GoVersion, "go")
		found[std] = cdx.Component{Type: cdx.ComponentTypeLibrary, BOMRef: std, Name: "std", Version: info.GoVersion, PackageURL: std}
		for _, m := range info.Deps {
			sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:"))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", m.Path, err)
			}
			purl := "pkg:golang/" + m.Path + "@" + m.Version
			found[purl] = cdx.Component{
				Type: cdx.ComponentTypeLibrary, BOMRef: purl, Name: m.Path, Version: m.Version, PackageURL: purl,
				Hashes: &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(sum)}},
			}
		}
	}
	return byRef(found), nil
}

func byRef(found map[string]cdx.Component) (list []cdx.Component) {
	for _, c := range found {
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b cdx.Component) int { return strings.Compare(a.BOMRef, b.BOMRef) })
	return list
}

// provenance writes what was made from what, as an in-toto statement with SLSA's
// predicate. It is not signed, and has no time but the commit's.
func (r *release) provenance() error {
	subjects, err := r.digests()
	if err != nil {
		return err
	}
	statement := map[string]any{
		"_type":         "https://in-toto.io/Statement/v1",
		"subject":       subjects,
		"predicateType": "https://slsa.dev/provenance/v1",
		"predicate": map[string]any{
			"buildDefinition": map[string]any{
				"buildType":          "urn:outlast:release:1", // ./build.sh release of that commit
				"externalParameters": map[string]any{"version": r.version},
				"resolvedDependencies": []any{
					map[string]any{"name": "source", "digest": map[string]string{"gitCommit": r.commit}},
					map[string]any{"name": "go", "annotations": map[string]string{"version": runtime.Version()}},
				},
			},
			"runDetails": map[string]any{"builder": map[string]string{"id": "urn:outlast:build.sh"}},
		},
	}
	text, err := json.MarshalIndent(statement, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(r.path("%s_%s.provenance.json", r.Package, r.version), append(text, '\n'), 0o644)
}

// subject is a file of the release, as in-toto has it.
type subject struct {
	Name   string            `json:"name"`
	Digest map[string]string `json:"digest"`
}

// digests are those of the files so far, by name.
func (r *release) digests() (list []subject, err error) {
	files, err := os.ReadDir(r.out)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		content, err := os.ReadFile(r.path("%s", f.Name()))
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(content)
		list = append(list, subject{f.Name(), map[string]string{"sha256": hex.EncodeToString(sum[:])}})
	}
	return list, nil
}

// sums writes SHA256SUMS, as sha256sum --check reads it. The owner signs this file.
func (r *release) sums() error {
	list, err := r.digests()
	if err != nil {
		return err
	}
	var text strings.Builder
	for _, s := range list {
		fmt.Fprintf(&text, "%s  %s\n", s.Digest["sha256"], s.Name)
	}
	return os.WriteFile(r.path("SHA256SUMS"), []byte(text.String()), 0o644)
}
