package pull_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"aead.dev/minisign"

	"outlast/cmd/outlast/internal/pull"
	"outlast/followed"
	"outlast/host"
	"outlast/host/virtual"
	"outlast/plugin/policy"
)

var plugin *host.Plugin

func TestMain(m *testing.M) {
	var err error
	if plugin, err = host.Open(); err != nil {
		panic(err)
	}
	code := m.Run()
	plugin.Close(context.Background())
	os.Exit(code)
}

var today = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// publisher signs releases.
type publisher struct {
	public  minisign.PublicKey
	private minisign.PrivateKey
}

func newPublisher(t *testing.T) *publisher {
	t.Helper()
	public, private, err := minisign.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return &publisher{public, private}
}

func (p *publisher) sign(text []byte) string { return string(minisign.Sign(p.private, text)) }

// release is psql's policy in its envelope, with edits of its text.
func release(t *testing.T, serial int64, edits ...string) []byte {
	t.Helper()
	document := bundledPsql(t)
	for i := 0; i < len(edits); i += 2 {
		if !strings.Contains(document, edits[i]) {
			t.Fatalf("psql's policy has no %q", edits[i])
		}
		document = strings.ReplaceAll(document, edits[i], edits[i+1])
	}
	e := followed.Envelope{Name: "psql", Serial: serial, Time: today.Add(-time.Hour), Document: document}
	return e.Encode()
}

func bundledPsql(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../../../commands/psql/policy.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := policy.Parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return doc.Normal
}

// site is a web server of a policy and its signature.
type site struct {
	*httptest.Server
	mu    sync.Mutex
	files map[string]string
}

func newSite(t *testing.T) *site {
	s := &site{files: map[string]string{}}
	s.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		text, there := s.files[r.URL.Path]
		if !there {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, text)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *site) publish(text []byte, signature string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files["/psql.json"], s.files["/psql.json.minisig"] = string(text), signature
	if signature == "" {
		delete(s.files, "/psql.json.minisig")
	}
}

// puller follows the site into a new folder.
func (s *site) puller(t *testing.T, key *minisign.PublicKey) *pull.Puller {
	t.Helper()
	return &pull.Puller{
		Source: source(t, s.URL+"/psql.json"), Key: key, Dir: filepath.Join(t.TempDir(), "policies"), Plugin: plugin,
		Transport: s.Client().Transport, Clock: &virtual.Clock{}, Now: func() time.Time { return today },
	}
}

func source(t *testing.T, text string) *pull.Source {
	t.Helper()
	s, err := pull.ParseSource(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func inForce(t *testing.T, dir string) *followed.Release {
	t.Helper()
	r, err := followed.Read(dir, "psql")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func look(p *pull.Puller) error { return p.Look(context.Background()) }

// What is taken: other windows, backoffs and wakes, also old ones under a higher
// serial.
func TestTaken(t *testing.T) {
	by, s := newPublisher(t), newSite(t)
	p := s.puller(t, &by.public)
	var told []pull.Event
	p.Tell = func(e pull.Event) { told = append(told, e) }
	for i, text := range [][]byte{
		release(t, 3),
		release(t, 4, `"max_wait":"120s"`, `"max_wait":"300s"`, `"base":"500ms"`, `"base":"1s"`, `"spread":"30ms"`, `"spread":"3s"`),
		release(t, 9),
		release(t, 9),
	} {
		s.publish(text, by.sign(text))
		if err := look(p); err != nil {
			t.Fatalf("release %d: %v", i, err)
		}
		r := inForce(t, p.Dir)
		if r.Text != string(text) || r.Key != by.public.String() || r.Source != s.URL+"/psql.json" || !r.Pulled.Equal(today) ||
			!minisign.Verify(by.public, []byte(r.Text), []byte(r.Signature)) {
			t.Errorf("in force: %+v", r.File)
		}
	}
	if len(told) != 4 || !told[1].New || told[1].Before.Serial != 3 || told[3].New {
		t.Errorf("told %+v", told)
	}
}

// What is refused, by name, and with what is in force afterwards: what was before.
func TestRefused(t *testing.T) {
	by, other, s := newPublisher(t), newPublisher(t), newSite(t)
	good := release(t, 7)
	retried := []string{`"then":[{"stop":{"effects":"unknown"}}]`, `"then":[{"retry":"unavailable"}]`}
	expired := bytes.Replace(release(t, 8), []byte(`"document"`), []byte(`"expires":"2026-06-01T12:00:00Z","document"`), 1)
	altered := bytes.Replace(release(t, 8), []byte(`"120s"`), []byte(`"900s"`), 1)
	for name, test := range map[string]struct {
		text      []byte
		signature string
		want      []string // of the faults, each a part
	}{
		"unsigned":           {release(t, 8), "", []string{"it is not signed"}},
		"forged":             {release(t, 8), other.sign(release(t, 8)), []string{"the signature is not that of key"}},
		"altered":            {altered, by.sign(release(t, 8)), []string{"the signature is not that of key"}},
		"no signature":       {release(t, 8), "nonsense", []string{"the signature is not that of key"}},
		"replayed":           {release(t, 6), by.sign(release(t, 6)), []string{"serial 6 is not above 7"}},
		"the serial again":   {release(t, 7, "120s", "121s"), by.sign(release(t, 7, "120s", "121s")), []string{"serial 7 is not above 7"}},
		"expired":            {expired, by.sign(expired), []string{"it has expired, at 2026-06-01T12:00:00Z"}},
		"other rules":        {release(t, 8, retried...), by.sign(release(t, 8, retried...)), []string{"rule ", "rules: allow"}},
		"more attempts":      {release(t, 8, `"max_wait":"120s"`, `"attempts":20`, `,"wake":{"reads":"accepting","writes":"ready","spread":"30ms","spread_multiplier":64,"spread_late":"75s","hold_off":"1s","max_vain":3}`, ``), "", []string{"it is not signed", "attempts", "rules: allow"}},
		"no policy":          {[]byte(`{"version":1}`), "", []string{"it is not signed", "name: is missing", "serial: is missing", "time: is missing", "document: is missing"}},
		"no JSON":            {[]byte(`nonsense`), by.sign([]byte(`nonsense`)), []string{"not JSON"}},
		"everything at once": {release(t, 6, retried...), other.sign(good), []string{"the signature is not", "serial 6 is not above 7", "rule ", "rules: allow"}},
		"huge":               {make([]byte, 1<<20), "", []string{"is longer than"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := s.puller(t, &by.public)
			s.publish(good, by.sign(good))
			if err := look(p); err != nil {
				t.Fatal(err)
			}
			s.publish(test.text, test.signature)
			told := 0
			p.Tell = func(pull.Event) { told++ }
			err := look(p)
			_ = look(p) // the same again is no news
			var refused *pull.Refused
			if !errors.As(err, &refused) || told != 1 {
				t.Fatalf("%v, told %d times", err, told)
			}
			faults := strings.Join(refused.Faults, "\n")
			for _, want := range test.want {
				if !strings.Contains(faults, want) {
					t.Errorf("no %q among\n%s", want, faults)
				}
			}
			if r := inForce(t, p.Dir); r.Text != string(good) {
				t.Errorf("serial %d is in force", r.Serial)
			}
		})
	}
}

// Other rules are taken where the settings say so, and where the content is fixed by
// its digest; then it is what the next ones are compared with.
func TestRulesThatMayChange(t *testing.T) {
	by, s := newPublisher(t), newSite(t)
	text := release(t, 1, `"then":[{"stop":{"effects":"unknown"}}]`, `"then":[{"retry":"unavailable"}]`)
	s.publish(text, by.sign(text))
	p := s.puller(t, &by.public)
	if look(p) == nil {
		t.Fatal("taken as it is")
	}
	p.Rules = true
	if err := look(p); err != nil {
		t.Error(err)
	}
	p.Rules = false
	next := bytes.ReplaceAll(bytes.Replace(text, []byte(`"serial":1`), []byte(`"serial":2`), 1), []byte("120s"), []byte("240s"))
	s.publish(next, by.sign(next))
	if err := look(p); err != nil {
		t.Errorf("the same rules as in force: %v", err)
	}

	pinned := s.puller(t, nil)
	pinned.Source = source(t, s.URL+"/psql.json@"+followed.Digest(text))
	if err := look(pinned); err == nil || !strings.Contains(err.Error(), "not the one that was asked for") {
		t.Errorf("another content than the digest's: %v", err)
	}
	nobodys := s.puller(t, nil)
	if err := look(nobodys); err == nil || !strings.Contains(err.Error(), "nothing says whose it is") {
		t.Errorf("without a key and a digest: %v", err)
	}
	s.publish(text, "")
	if err := look(pinned); err != nil || inForce(t, pinned.Dir).Key != "" {
		t.Error(err)
	}
}

// A policy that nothing can be compared with is not taken from a source that changes.
func TestTheFirstOfAName(t *testing.T) {
	by, s := newPublisher(t), newSite(t)
	text := bytes.ReplaceAll(release(t, 1), []byte(`"name":"psql"`), []byte(`"name":"orders"`))
	s.publish(text, by.sign(text))
	p := s.puller(t, &by.public)
	if err := look(p); err == nil || !strings.Contains(err.Error(), "there is no policy orders yet") {
		t.Errorf("%v", err)
	}
	if names, _ := followed.Names(p.Dir); len(names) != 0 {
		t.Errorf("in force: %v", names)
	}
}

// Redirects and sources by which somebody on the way could change what comes.
func TestOnlyWhatComesUnchanged(t *testing.T) {
	s := newSite(t)
	away := httptest.NewTLSServer(http.RedirectHandler("http://192.0.2.1/psql.json", http.StatusFound))
	defer away.Close()
	p := s.puller(t, nil)
	p.Source, p.Transport = source(t, away.URL+"/psql.json"), away.Client().Transport
	if err := look(p); err == nil || !strings.Contains(err.Error(), "which is not https") {
		t.Errorf("a redirect to http: %v", err)
	}
	for _, text := range []string{
		"http://policies.example/x.json", "ftp://policies.example/x", "https://u:p@policies.example/x", "https://policies.example/x?y=1",
		"https:///x", "oci://registry.example/x", "oci://registry.example/X:y", "oci://registry.example/x:..", "oci://registry.example/a//b:c",
		"oci://registry.example/a/../b:c", "oci://registry.example/x:y@sha256:" + strings.Repeat("a", 64), "oci://registry.example/x@sha256:12",
	} {
		if _, err := pull.ParseSource(text); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
	for _, text := range []string{
		"https://policies.example:8443/a/x.json", "http://127.0.0.1:80/x", "oci://registry.example/fleet/psql:stable",
		"oci://localhost:5000/x:1.2", "oci://registry.example/x@sha256:" + strings.Repeat("a", 64),
	} {
		if s, err := pull.ParseSource(text); err != nil || s.String() != text {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// outage is a clock on which a server goes away and comes back.
type outage struct {
	virtual.Clock
	back time.Duration
	do   func()
}

func (o *outage) Sleep(ctx context.Context, d time.Duration) error {
	err := o.Clock.Sleep(ctx, d)
	if o.Now() >= o.back && o.do != nil {
		o.do()
		o.do = nil
	}
	return err
}

// A registry that goes away between a manifest and its layer, for a minute: the
// pull goes on by outlast's own schedule, and what it brings is whole. While it is
// away for good, the policy in force stays.
func TestTheRegistryGoesAway(t *testing.T) {
	by := newPublisher(t)
	text := release(t, 1)
	r := newRegistry(t, text, by.sign(text))
	clock := &outage{back: time.Minute, do: func() { r.start(t) }}
	r.asked = func(path string) {
		if strings.Contains(path, "/blobs/") && clock.Now() == 0 {
			r.stop()
		}
	}
	var looks []time.Duration
	p := &pull.Puller{
		Source: source(t, "oci://"+r.addr+"/fleet/psql:stable"), Key: &by.public, Dir: filepath.Join(t.TempDir(), "p"), Plugin: plugin,
		Clock: clock, Now: func() time.Time { return today }, Transport: &counting{http.DefaultTransport.(*http.Transport).Clone(), func() { looks = append(looks, clock.Now()) }},
	}
	if err := look(p); err != nil {
		t.Fatal(err)
	}
	if inForce(t, p.Dir).Text != string(text) || clock.Now() < time.Minute || clock.Now() > 71*time.Second {
		t.Errorf("back after %v: %v", clock.Now(), looks)
	}
	// The schedule of the policy network, jitter of a tenth included.
	between := []time.Duration{}
	at := slices.Compact(looks)
	for i := 1; i < len(at); i++ {
		between = append(between, at[i]-at[i-1])
	}
	for i, want := range []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second} {
		if got := between[i]; got < want || got > want*11/10 {
			t.Errorf("wait %d is %v: %v", i, got, between)
		}
	}

	r.stop()
	if err := look(p); err == nil || inForce(t, p.Dir).Text != string(text) {
		t.Errorf("a registry that is away: %v", err)
	}
}

type counting struct {
	*http.Transport
	count func()
}

func (c *counting) RoundTrip(r *http.Request) (*http.Response, error) {
	c.count()
	return c.Transport.RoundTrip(r)
}

// To follow is to look about once in a period, whatever a look came to, until it is
// ended; a source that is away is asked by the schedule meanwhile.
func TestFollow(t *testing.T) {
	by, s := newPublisher(t), newSite(t)
	p := s.puller(t, &by.public)
	ctx, cancel := context.WithCancel(t.Context())
	clock := &ending{cancel: cancel, after: 40}
	p.Clock = clock
	serial := int64(0)
	var told []string
	p.Tell = func(e pull.Event) {
		switch {
		case e.New:
			told = append(told, fmt.Sprint(e.Release.Serial))
		case e.Err != nil && !e.Retrying:
			told = append(told, "refused")
		}
	}
	clock.each = func() { // a release in each period, of which the third is not signed
		serial++
		text := release(t, serial)
		signature := by.sign(text)
		if serial == 3 {
			signature = ""
		}
		s.publish(text, signature)
	}
	clock.each()
	p.Follow(ctx, 5*time.Minute)
	if want := "1 2 refused 4 5"; !strings.HasPrefix(strings.Join(told, " "), want) {
		t.Errorf("told %q, and not %q", told, want)
	}
	for _, d := range clock.slept {
		if d < 4*time.Minute+30*time.Second || d > 5*time.Minute+30*time.Second {
			t.Errorf("a period of %v", d)
		}
	}
	if slices.Min(clock.slept) == slices.Max(clock.slept) {
		t.Error("a fleet would come all at once")
	}
}

// ending is a clock that ends what sleeps on it.
type ending struct {
	virtual.Clock
	cancel func()
	after  int
	each   func()
	slept  []time.Duration
}

func (e *ending) Sleep(ctx context.Context, d time.Duration) error {
	e.slept = append(e.slept, d)
	if len(e.slept) == e.after {
		e.cancel()
	}
	e.each()
	return e.Clock.Sleep(ctx, d)
}

// Two pulls into one folder: the higher serial is in force, whoever comes last.
func TestTwoPullers(t *testing.T) {
	by := newPublisher(t)
	dir := filepath.Join(t.TempDir(), "policies")
	var all sync.WaitGroup
	for serial := int64(1); serial <= 8; serial++ {
		s := newSite(t)
		text := release(t, serial)
		s.publish(text, by.sign(text))
		p := s.puller(t, &by.public)
		p.Dir = dir
		all.Go(func() { _ = look(p) })
	}
	all.Wait()
	if r := inForce(t, dir); r.Serial != 8 {
		t.Errorf("serial %d is in force", r.Serial)
	}
}

// registry is one of the distribution specification, with the repository fleet/psql
// and its tag stable. tests/registry has a real one.
type registry struct {
	addr   string
	server *http.Server
	asked  func(path string)
	token  string // that is asked for; "": none
	login  string // that the token is given for
	parts  map[string][]byte
}

func newRegistry(t *testing.T, envelope []byte, signature string) *registry {
	t.Helper()
	r := &registry{asked: func(string) {}, parts: map[string][]byte{}}
	layers := []map[string]any{}
	for _, l := range []struct {
		mediaType string
		text      []byte
	}{{pull.EnvelopeType, envelope}, {pull.SignatureType, []byte(signature)}} {
		if len(l.text) > 0 {
			layers = append(layers, map[string]any{"mediaType": l.mediaType, "digest": followed.Digest(l.text), "size": len(l.text)})
			r.parts["/v2/fleet/psql/blobs/"+followed.Digest(l.text)] = l.text
		}
	}
	manifest, _ := json.Marshal(map[string]any{"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "layers": layers})
	r.parts["/v2/fleet/psql/manifests/stable"] = manifest
	r.parts["/v2/fleet/psql/manifests/"+followed.Digest(manifest)] = manifest
	r.start(t)
	t.Cleanup(r.stop)
	return r
}

func (r *registry) start(t *testing.T) {
	addr := r.addr
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		t.Error(err)
		return
	}
	r.addr = listener.Addr().String()
	r.server = &http.Server{Handler: r}
	go r.server.Serve(listener)
}

func (r *registry) stop() { r.server.Close() }

func (r *registry) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.asked(req.URL.Path)
	if req.URL.Path == "/token" {
		if req.Header.Get("Authorization") != r.login || req.URL.Query().Get("service") != "registry" || req.URL.Query().Get("scope") != "repository:fleet/psql:pull,push" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		fmt.Fprintf(w, `{"token":%q}`, r.token)
		return
	}
	if r.token != "" && req.Header.Get("Authorization") != "Bearer "+r.token {
		w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm="http://%s/token",service="registry",scope="repository:fleet/psql:pull,push"`, r.addr))
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	text, there := r.parts[req.URL.Path]
	if !there {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	_, _ = w.Write(text)
}

// A registry that wants a token, which it gives for a login; a tag, and a digest.
func TestARegistryWithALogin(t *testing.T) {
	by := newPublisher(t)
	text := release(t, 1)
	r := newRegistry(t, text, by.sign(text))
	r.token, r.login = "a token", "Basic dTpw"
	manifest := followed.Digest(r.parts["/v2/fleet/psql/manifests/stable"])
	config := t.TempDir()
	t.Setenv("DOCKER_CONFIG", config)
	t.Setenv("REGISTRY_AUTH_FILE", "")
	for _, ref := range []string{":stable", "@" + manifest} {
		p := &pull.Puller{
			Source: source(t, "oci://"+r.addr+"/fleet/psql"+ref), Key: &by.public, Dir: filepath.Join(t.TempDir(), "p"), Plugin: plugin, Clock: &virtual.Clock{},
		}
		os.Remove(config + "/config.json")
		if err := look(p); err == nil || !strings.Contains(err.Error(), "403") {
			t.Errorf("%s without a login: %v", ref, err)
		}
		if err := os.WriteFile(config+"/config.json", fmt.Appendf(nil, `{"auths":{%q:{"auth":"dTpw"}}}`, r.addr), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := look(p); err != nil || inForce(t, p.Dir).Text != string(text) {
			t.Errorf("%s: %v", ref, err)
		}
	}
}

// A registry that answers with another content than it names.
func TestARegistryThatLies(t *testing.T) {
	by := newPublisher(t)
	text := release(t, 1)
	for name, test := range map[string]struct {
		lie  func(r *registry, manifest string)
		want string
	}{
		"a layer":      {func(r *registry, _ string) { r.parts["/v2/fleet/psql/blobs/"+followed.Digest(text)] = release(t, 2) }, "came with the digest"},
		"a manifest":   {func(r *registry, m string) { r.parts["/v2/fleet/psql/manifests/"+m] = []byte(`{"layers":[]}`) }, "not the one that was asked for"},
		"no manifest":  {func(r *registry, _ string) { r.parts["/v2/fleet/psql/manifests/stable"] = []byte(`[]`) }, "the manifest is not JSON as it must be"},
		"no layer":     {func(r *registry, _ string) { r.parts["/v2/fleet/psql/manifests/stable"] = []byte(`{}`) }, "has no layer of type"},
		"a huge thing": {func(r *registry, _ string) { r.parts["/v2/fleet/psql/manifests/stable"] = make([]byte, 1<<20) }, "is longer than"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRegistry(t, text, by.sign(text))
			manifest := followed.Digest(r.parts["/v2/fleet/psql/manifests/stable"])
			test.lie(r, manifest)
			ref := ":stable"
			if name == "a manifest" {
				ref = "@" + manifest
			}
			p := &pull.Puller{Source: source(t, "oci://"+r.addr+"/fleet/psql"+ref), Key: &by.public, Dir: filepath.Join(t.TempDir(), "p"), Plugin: plugin, Clock: &virtual.Clock{}}
			var refused *pull.Refused
			if err := look(p); !errors.As(err, &refused) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, and not %q", err, test.want)
			}
		})
	}
}

// Signatures that minisign's command made: over a hash of the text, and in its older
// form over the text itself.
func TestMinisignsOwnSignatures(t *testing.T) {
	const text = "a release of a policy\n"
	key, err := pull.ReadKey("RWQl4igpwWrsNa3hTNvVcXe8RQpFb2UZWNUAksSLNI2vgtKEKgnNIP/8")
	if err != nil {
		t.Fatal(err)
	}
	for _, signature := range []string{
		"untrusted comment: signature from minisign secret key\nRUQl4igpwWrsNYdtvgD1pfz0wIiFoBBt8SgdCZXPUYdChaT7oa9O9B5gAhRfLRhZEsezVko+FBETyUPiDE0I/NOH3FYKPj2sxgQ=\ntrusted comment: made by minisign 0.11\nZX1tNnz5FGxrn6r5oWXe+i7uKp405ySMMKwarmnmjwjhXSYngI9MFeeAwJ7okrHwPzNafo1txi8Zmj+nkv72AQ==\n",
		"untrusted comment: signature from minisign secret key\nRWQl4igpwWrsNX8zInXupi2DSAZwBz5fOJIo2PXi1lTD7QyLJCMi1ucqbhP+pjt837jTebsxBn9dizmG9EHi8k9NOlh3ruqkJQk=\ntrusted comment: made by minisign 0.11\nnTGXYWpwbi3CG6QDqeqbas4PRhTkoKphe2Qjipc+RqUUGj4kyNMXIMrhy5Z1Z0Lp/PZ7wz0UhwWhK2WaNwAeCg==\n",
	} {
		if !minisign.Verify(*key, []byte(text), []byte(signature)) {
			t.Error("refused")
		}
		if minisign.Verify(*key, []byte(text+" "), []byte(signature)) || minisign.Verify(*key, []byte(text), []byte(strings.Replace(signature, "made by", "made  by", 1))) {
			t.Error("an altered text or comment is taken")
		}
	}
	if _, err := pull.ReadKey("RWQnonsense"); err == nil {
		t.Error("a key that is none")
	}
}
