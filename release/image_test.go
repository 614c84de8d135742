package main

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"outlast/plugin"
)

// unpacked is an OCI layout of the release, in a folder.
func unpacked(t *testing.T, name string) v1.ImageIndex {
	t.Helper()
	dir := t.TempDir()
	must(t, "tar", "-xf", the(t, "outlast_*_"+name+".oci.tar"), "-C", dir)
	index, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(index); err != nil && name == "image" {
		t.Error(err)
	}
	return index
}

// imageFor is the image of this machine, in an index that a layout's own names.
func imageFor(t *testing.T, outer v1.ImageIndex) v1.Image {
	t.Helper()
	top, err := outer.IndexManifest()
	if err != nil || len(top.Manifests) != 1 {
		t.Fatalf("%+v, %v", top, err)
	}
	index, err := outer.ImageIndex(top.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range manifest.Manifests {
		if m.Platform.Architecture == runtime.GOARCH {
			image, err := index.Image(m.Digest)
			if err != nil {
				t.Fatal(err)
			}
			return image
		}
	}
	t.Fatalf("no image for %s", runtime.GOARCH)
	return nil
}

// The image is unpacked and its entrypoint run as a container runtime would: in a
// root of its own, as its user, with /proc and /dev.
func TestInstalledImage(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" || os.Getuid() != 0 {
		t.Skip("only root may change its root")
	}
	image := imageFor(t, unpacked(t, "image"))
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	unpackImage(t, image, root)
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	chroot, err := exec.LookPath("chroot")
	if err != nil {
		t.Skip(err)
	}
	// The first three arguments are the root, chroot and the user.
	const script = `for d in proc dev; do mkdir -p "$0/$d" && mount --rbind "/$d" "$0/$d"; done; exec "$1" --userspec="$2" "$0" "${@:3}"`
	contained := func(args ...string) *exec.Cmd {
		argv := slices.Concat([]string{"--mount", "bash", "-c", script, root, chroot, config.Config.User}, config.Config.Entrypoint, args)
		cmd := exec.Command("unshare", argv...)
		cmd.Env = config.Config.Env
		return cmd
	}
	if err := exec.Command("unshare", "--mount", "true").Run(); err != nil {
		t.Skip("no mounts of its own: ", err)
	}
	if user, _, _ := strings.Cut(config.Config.User, ":"); user == "0" || user == "" {
		t.Errorf("its user is %q", user)
	}
	if out := mustRun(t, contained(config.Config.Cmd...)); !strings.Contains(out, "Usage: outlast") {
		t.Errorf("without arguments: %s", out)
	}
	tryDemo(t, contained("demo", "--outage", "1s", "--loading", "0.3s"))
}

// unpackImage writes the files of an image's layers.
func unpackImage(t *testing.T, image v1.Image, root string) {
	t.Helper()
	content := mutate.Extract(image)
	defer content.Close()
	for r := tar.NewReader(content); ; {
		header, err := r.Next()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(root, header.Name)
		if header.Uid != 0 || header.Gid != 0 {
			t.Errorf("%s is not root's", header.Name)
		}
		if header.Typeflag == tar.TypeDir {
			err = os.MkdirAll(path, 0o755)
		} else {
			text, _ := io.ReadAll(r)
			err = os.WriteFile(path, text, 0o644)
		}
		if err == nil {
			err = syscall.Chmod(path, uint32(header.Mode)) // the sticky bit too
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// The artifact has the plugin, byte for byte, and tells the contract's version.
func TestInstalledPluginArtifact(t *testing.T) {
	t.Parallel()
	index := unpacked(t, "plugin")
	top, err := index.IndexManifest()
	if err != nil || len(top.Manifests) != 1 {
		t.Fatalf("%+v, %v", top, err)
	}
	image, err := index.Image(top.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := image.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	digest := "sha256:" + strings.TrimSpace(plugin.SHA256)
	if manifest.Config.MediaType != wasmConfig || len(manifest.Layers) != 1 || manifest.Layers[0].MediaType != wasmLayer || manifest.Layers[0].Digest.String() != digest {
		t.Errorf("%+v", manifest)
	}
	if v := manifest.Annotations["outlast.abi.version"]; strings.Count(v, ".") != 2 || manifest.Annotations["outlast.plugin.digest"] != digest {
		t.Errorf("%v", manifest.Annotations)
	}
	layer, err := image.LayerByDigest(manifest.Layers[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	content, err := layer.Compressed()
	if err != nil {
		t.Fatal(err)
	}
	defer content.Close()
	text, err := io.ReadAll(content)
	if sum := sha256.Sum256(text); err != nil || "sha256:"+hex.EncodeToString(sum[:]) != digest {
		t.Errorf("the layer is another file: %v", err)
	}
}

// A registry takes both, and gives back what it took.
func TestInstalledInARegistry(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	for _, layoutName := range []string{"image", "plugin"} {
		outer := unpacked(t, layoutName)
		top, err := outer.IndexManifest()
		if err != nil {
			t.Fatal(err)
		}
		entry := top.Manifests[0]
		at, err := name.ParseReference(strings.TrimPrefix(server.URL, "http://") + "/" + layoutName + ":" + entry.Annotations["org.opencontainers.image.ref.name"])
		if err != nil {
			t.Fatal(err)
		}
		if entry.MediaType.IsIndex() {
			var index v1.ImageIndex
			if index, err = outer.ImageIndex(entry.Digest); err == nil {
				err = remote.WriteIndex(at, index)
			}
		} else {
			var image v1.Image
			if image, err = outer.Image(entry.Digest); err == nil {
				err = remote.Write(at, image)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		if got, err := remote.Get(at); err != nil || got.Digest != entry.Digest || got.MediaType != entry.MediaType {
			t.Errorf("%s: %+v, %v", layoutName, got, err)
		}
	}
}
