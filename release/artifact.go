package main

import (
	"bytes"
	"encoding/json"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"outlast/plugin/policy"
)

// rawArtifact is an image whose config is no image's: of any bytes and media type.
type rawArtifact struct {
	config   []byte
	manifest []byte
	layer    v1.Layer
}

// artifact is one layer under a config of Wasm's.
func artifact(config []byte, layer v1.Layer, notes map[string]string) (v1.Image, error) {
	configDigest, configSize, err := v1.SHA256(bytes.NewReader(config))
	if err != nil {
		return nil, err
	}
	described, err := partial.Descriptor(layer)
	if err != nil {
		return nil, err
	}
	manifest, err := json.Marshal(v1.Manifest{
		SchemaVersion: 2, MediaType: types.OCIManifestSchema1, Annotations: notes,
		Config: v1.Descriptor{MediaType: wasmConfig, Size: configSize, Digest: configDigest},
		Layers: []v1.Descriptor{*described},
	})
	if err != nil {
		return nil, err
	}
	return partial.CompressedToImage(&rawArtifact{config, manifest, layer})
}

func (a *rawArtifact) RawConfigFile() ([]byte, error)                         { return a.config, nil }
func (a *rawArtifact) RawManifest() ([]byte, error)                           { return a.manifest, nil }
func (a *rawArtifact) MediaType() (types.MediaType, error)                    { return types.OCIManifestSchema1, nil }
func (a *rawArtifact) LayerByDigest(v1.Hash) (partial.CompressedLayer, error) { return a.layer, nil }

// policyDigests are those of the policies that the plugin has in it, by name.
func policyDigests() (map[string]string, error) {
	digests := map[string]string{}
	for _, name := range policy.Names() {
		doc, err := policy.BuiltIn(name)
		if err != nil {
			return nil, err
		}
		digests[name] = doc.Digest
	}
	return digests, nil
}
