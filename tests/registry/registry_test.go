// Package registry has outlast policy pull follow a policy in a real registry,
// go-containerregistry's, with signatures of another implementation's making. It is a
// module of its own because of what those bring.
package registry

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"aead.dev/minisign"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// tool is outlast, built from this tree.
func tool(t *testing.T) func(args ...string) *exec.Cmd {
	t.Helper()
	path := filepath.Join(t.TempDir(), "outlast")
	build := exec.Command("go", "build", "-o", path, "./cmd/outlast")
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return func(args ...string) *exec.Cmd {
		return exec.Command(path, args...)
	}
}

// store is a registry that can be stopped, and started again with what it had.
type store struct {
	t       *testing.T
	handler http.Handler
	addr    string
	server  *http.Server
}

func (s *store) start() {
	s.t.Helper()
	if s.addr == "" {
		s.addr = "127.0.0.1:0"
	}
	listener, err := net.Listen("tcp", s.addr)
	if err != nil {
		s.t.Fatal(err)
	}
	s.addr = listener.Addr().String()
	s.server = &http.Server{Handler: s.handler}
	go s.server.Serve(listener)
}

// push puts a release of psql's policy, with another window, under the tag stable,
// and gives the manifest's digest.
func (s *store) push(key minisign.PrivateKey, serial int, window string) v1.Hash {
	s.t.Helper()
	document, err := os.ReadFile("../../commands/psql/policy.json")
	if err != nil {
		s.t.Fatal(err)
	}
	envelope := fmt.Appendf(nil, `{"version": 1, "name": "psql", "serial": %d, "time": "2026-03-03T10:00:00Z", "document": %s}`,
		serial, strings.Replace(string(document), `"120s"`, fmt.Sprintf("%q", window), 1))
	image, err := mutate.AppendLayers(mutate.MediaType(empty.Image, types.OCIManifestSchema1),
		static.NewLayer(envelope, "application/vnd.outlast.policy.v1+json"),
		static.NewLayer(minisign.Sign(key, envelope), "application/vnd.outlast.policy.v1.minisig"))
	if err != nil {
		s.t.Fatal(err)
	}
	ref, err := name.ParseReference(s.addr+"/fleet/psql:stable", name.Insecure)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := remote.Write(ref, image); err != nil {
		s.t.Fatal(err)
	}
	digest, err := image.Digest()
	if err != nil {
		s.t.Fatal(err)
	}
	return digest
}

// serial is that of the policy that outlast run goes by.
func serial(t *testing.T, outlast func(...string) *exec.Cmd, dir string) int64 {
	t.Helper()
	events := filepath.Join(t.TempDir(), "events")
	if out, err := outlast("run", "--policy-dir", dir, "--policy", "psql", "--read", "--events", events, "--", "true").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(events)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var e struct {
			Event  string
			Serial int64
		}
		if json.Unmarshal([]byte(line), &e) == nil && e.Event == "policy_in_force" {
			return e.Serial
		}
	}
	t.Fatalf("no policy is in force:\n%s", text)
	return 0
}

func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for began := time.Now(); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Since(began) > 30*time.Second {
			t.Fatalf("%s: not within 30 s", what)
		}
	}
}

// A registry is followed, goes away, and comes back with another release. Hosts have a
// policy all the time, and the new one soon after.
func TestARegistryThatGoesAwayIsFollowed(t *testing.T) {
	outlast := tool(t)
	public, private, err := minisign.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s := &store{t: t, handler: registry.New(registry.Logger(log.New(io.Discard, "", 0)))}
	s.start()
	first := s.push(private, 1, "120s")
	dir := filepath.Join(t.TempDir(), "policies")
	var said strings.Builder
	follow := outlast("policy", "pull", "--follow", "--every", "1s", "--key", public.String(), "oci://"+s.addr+"/fleet/psql:stable", dir)
	follow.Stdout, follow.Stderr = &said, &said
	began := time.Now()
	if err := follow.Start(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "psql.json")
	has := func(serial string) func() bool {
		return func() bool {
			text, _ := os.ReadFile(file)
			return strings.Contains(string(text), `\"serial\": `+serial+",")
		}
	}
	until(t, "the first release", has("1"))
	t.Logf("the first release is in force after %v", time.Since(began).Round(time.Millisecond))

	s.server.Close()
	time.Sleep(3 * time.Second) // it is looked for meanwhile
	if n := serial(t, outlast, dir); n != 1 {
		t.Errorf("while the registry is away, serial %d counts", n)
	}
	s.start()
	began = time.Now()
	s.push(private, 2, "300s")
	until(t, "the second release", has("2"))
	t.Logf("the second release is in force %v after the registry's return", time.Since(began).Round(time.Millisecond))
	if n := serial(t, outlast, dir); n != 2 {
		t.Errorf("serial %d counts", n)
	}

	if err := follow.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := follow.Wait(); err != nil {
		t.Errorf("%v", err)
	}
	for _, want := range []string{"serial 1, is in force\n", "asked again", "serial 2, is in force, in place of 1\n"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("pull has not said %q:\n%s", want, said.String())
		}
	}

	// The first one by its digest is fixed, and older.
	out, err := outlast("policy", "pull", "oci://"+s.addr+"/fleet/psql@"+first.String(), dir).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "serial 1 is not above 2") {
		t.Errorf("%v\n%s", err, out)
	}
	out, err = outlast("policy", "pull", "oci://"+s.addr+"/fleet/psql@"+first.String(), filepath.Join(t.TempDir(), "new")).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	s.server.Close()
}
