package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"outlast/abi"
	"outlast/plugin"
)

// images makes two OCI layouts: the tool's image, and the plugin as an artifact.
func (r *release) images() error {
	index, err := r.toolIndex()
	if err != nil {
		return err
	}
	if err := r.writeLayout("image", func(l layout.Path) error { return l.AppendIndex(index, r.tagged()) }); err != nil {
		return err
	}
	artifact, err := r.pluginArtifact()
	if err != nil {
		return err
	}
	return r.writeLayout("plugin", func(l layout.Path) error { return l.AppendImage(artifact, r.tagged()) })
}

// tagged names an entry of a layout, as tools that copy one to a registry read it.
func (r *release) tagged() layout.Option {
	return layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": r.version})
}

func (r *release) annotations(title string) map[string]string {
	return map[string]string{
		"org.opencontainers.image.title":       title,
		"org.opencontainers.image.description": r.Summary,
		"org.opencontainers.image.version":     r.version,
		"org.opencontainers.image.revision":    r.commit,
		"org.opencontainers.image.licenses":    "MIT",
		"org.opencontainers.image.created":     r.when.Format(time.RFC3339),
	}
}

// nobody is the user of a container: any number but root's that no system knows.
const nobody = "65532:65532"

// toolIndex has an image for each Linux. It has nothing but the tool, its licence
// and a folder for what the tool spools.
func (r *release) toolIndex() (v1.ImageIndex, error) {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, t := range r.targets {
		if t.os != "linux" {
			continue
		}
		image, err := r.toolImage(t)
		if err != nil {
			return nil, err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{
			Platform: &v1.Platform{OS: t.os, Architecture: t.arch},
		}})
	}
	return mutate.Annotations(index, r.annotations(r.Image)).(v1.ImageIndex), nil
}

func (r *release) toolImage(t target) (v1.Image, error) {
	program, err := os.ReadFile(r.programs[t])
	if err != nil {
		return nil, err
	}
	files := []file{
		{"usr/", nil, fs.ModeDir | 0o755}, {"usr/bin/", nil, fs.ModeDir | 0o755}, {"usr/bin/outlast", program, 0o755},
		{"tmp/", nil, fs.ModeDir | fs.ModeSticky | 0o777},
	}
	for _, f := range r.extra {
		if f.path == licenceFile {
			files = append(files, f)
		}
	}
	packed, err := tarOf(files, r.when)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(
		func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(packed)), nil },
		tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err = mutate.Append(image, mutate.Addendum{Layer: layer, History: v1.History{Created: v1.Time{Time: r.when}, CreatedBy: "outlast " + r.version}})
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = t.os, t.arch, v1.Time{Time: r.when}
	config.Config = v1.Config{
		User: nobody, Entrypoint: []string{"/usr/bin/outlast"}, Cmd: []string{"--help"},
		Env:    []string{"PATH=/usr/bin"},
		Labels: r.annotations(r.Image),
	}
	if image, err = mutate.ConfigFile(image, config); err != nil {
		return nil, err
	}
	return mutate.Annotations(image, r.annotations(r.Image)).(v1.Image), nil
}

// The media types of CNCF's layout for Wasm.
const (
	wasmConfig types.MediaType = "application/vnd.wasm.config.v0+json"
	wasmLayer  types.MediaType = "application/wasm"
)

// pluginArtifact has the plugin as its one layer.
func (r *release) pluginArtifact() (v1.Image, error) {
	digest := "sha256:" + strings.TrimSpace(plugin.SHA256)
	if sum := sha256.Sum256(plugin.Wasm); "sha256:"+hex.EncodeToString(sum[:]) != digest {
		return nil, fmt.Errorf("the plugin is not the one whose digest is recorded")
	}
	config, err := json.Marshal(map[string]any{
		"created": r.when.Format(time.RFC3339), "author": r.Maintainer,
		"architecture": "wasm", "os": "wasip1", "layerDigests": []string{digest},
	})
	if err != nil {
		return nil, err
	}
	notes := r.annotations(r.PluginArtifact)
	notes["outlast.abi.version"] = fmt.Sprintf("%d.%d.%d", abi.Major, abi.Minor, abi.Patch)
	notes["outlast.plugin.digest"] = digest
	policies, err := policyDigests()
	if err != nil {
		return nil, err
	}
	for name, digest := range policies {
		notes["outlast.policy."+name] = digest
	}
	return artifact(config, static.NewLayer(plugin.Wasm, wasmLayer), notes)
}

// writeLayout writes an OCI layout as a tar, as skopeo, oras and podman read one.
func (r *release) writeLayout(name string, fill func(layout.Path) error) error {
	dir := filepath.Join(r.work, name)
	l, err := layout.Write(dir, empty.Index)
	if err == nil {
		err = fill(l)
	}
	if err != nil {
		return err
	}
	var files []file
	err = fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == "." {
			return err
		}
		if d.IsDir() {
			files = append(files, file{path + "/", nil, fs.ModeDir | 0o755})
			return nil
		}
		content, err := os.ReadFile(filepath.Join(dir, path))
		files = append(files, file{path, content, 0o644})
		return err
	})
	if err != nil {
		return err
	}
	packed, err := tarOf(files, r.when)
	if err != nil {
		return err
	}
	return os.WriteFile(r.path("%s_%s_%s.oci.tar", r.Package, r.version, name), packed, 0o644)
}
