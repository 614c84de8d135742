package ready

import (
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"outlast/abi"
	"outlast/host"
)

// The tests of this file look at real sockets.

// readyz is what a server of omnigraph's answers with a status.
func readyz(status string) string {
	return fmt.Sprintf(`{"ready":%v,"status":%q,"booted_serving_digest":"d","state_revision":42,"state_cas":"sha256:a","served_graph_count":3,`+
		`"ready_graph_count":2,"loading_graph_count":1,"blocked_graph_count":0,"shutdown_grace_seconds":25}`, status == "serving" || status == "degraded", status)
}

func healthz(version string) string {
	return fmt.Sprintf(`{"status":"ok","version":%q,"internal_schema_version":9}`, version)
}

// reply is an answer of a made-up server; 0 as status: 404.
type reply struct {
	status int
	body   string
}

// told is the server that gives these answers.
func told(at map[string]reply) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		got, ok := at[r.URL.Path]
		if !ok {
			got = reply{404, `{"error":"not found"}`}
		}
		rw.Header().Set("Location", "/healthz")
		rw.WriteHeader(got.status)
		io.WriteString(rw, got.body)
	}
}

// omnigraph is a target at a port where nobody listens.
func omnigraph(t testing.TB, path string) Target {
	to := target(t, "http")
	to.Path, to.Omnigraph = path, true
	return to
}

func TestTheLifeOfAServer(t *testing.T) {
	blanks := strings.Repeat(" ", maxBody)
	for name, c := range map[string]struct {
		at   map[string]reply
		want level
	}{
		"0.13 serving":   {map[string]reply{"/readyz": {200, readyz("serving")}, "/healthz": {200, healthz("0.13.0")}}, healthy},
		"0.13 degraded":  {map[string]reply{"/readyz": {200, readyz("degraded")}}, healthy},
		"0.13 loading":   {map[string]reply{"/readyz": {503, readyz("loading")}, "/healthz": {200, healthz("0.13.0")}}, loading},
		"0.13 blocked":   {map[string]reply{"/readyz": {503, readyz("blocked")}, "/healthz": {200, healthz("0.13.0")}}, unready},
		"0.13 draining":  {map[string]reply{"/readyz": {503, readyz("draining")}, "/healthz": {200, healthz("0.13.0")}}, unready},
		"0.11 serving":   {map[string]reply{"/readyz": {200, `{"ready":true,"status":"serving","quarantined_graph_count":1}`}}, healthy},
		"0.10":           {map[string]reply{"/healthz": {200, healthz("0.10.2")}}, healthy},
		"0.4":            {map[string]reply{"/healthz": {200, `{"status":"ok","version":"0.4.0"}`}}, healthy},
		"0.12, no route": {map[string]reply{"/healthz": {200, healthz("0.12.0")}}, accepting},

		"an ingress without a route":     {nil, accepting},
		"a health check without version": {map[string]reply{"/healthz": {200, `{"status":"ok"}`}}, accepting},
		"a health check in words":        {map[string]reply{"/healthz": {200, `ok`}}, accepting},
		"a version of another kind":      {map[string]reply{"/healthz": {200, `{"version":0.10}`}}, accepting},
		"a sick 0.10":                    {map[string]reply{"/healthz": {503, healthz("0.10.2")}}, unready},
		"an ingress without a backend":   {map[string]reply{"/readyz": {502, "bad gateway"}}, unready},
		"a server with a fault":          {map[string]reply{"/readyz": {500, readyz("loading")}, "/healthz": {200, healthz("0.10.0")}}, unready},
		"a login page":                   {map[string]reply{"/readyz": {302, ""}, "/healthz": {200, healthz("0.10.0")}}, accepting},
		"a permanent redirect":           {map[string]reply{"/readyz": {308, ""}, "/healthz": {200, healthz("0.10.0")}}, accepting},
		"no right to ask":                {map[string]reply{"/readyz": {401, ""}, "/healthz": {200, healthz("0.10.0")}}, accepting},
		"gone":                           {map[string]reply{"/readyz": {410, ""}, "/healthz": {200, healthz("0.10.0")}}, accepting},
		"no content":                     {map[string]reply{"/readyz": {204, ""}}, accepting},
		"loading with another status":    {map[string]reply{"/readyz": {429, readyz("loading")}}, accepting},

		"garbage":                     {map[string]reply{"/readyz": {503, "\x00\xff{{"}}, unready},
		"nothing":                     {map[string]reply{"/readyz": {503, ""}}, unready},
		"a page":                      {map[string]reply{"/readyz": {503, "<h1>graph is loading</h1>"}}, unready},
		"not an object":               {map[string]reply{"/readyz": {503, `"loading"`}}, unready},
		"a list":                      {map[string]reply{"/readyz": {503, `["status","loading"]`}}, unready},
		"the word elsewhere":          {map[string]reply{"/readyz": {503, `{"a":{"status":"loading"}}`}}, unready},
		"the word twice":              {map[string]reply{"/readyz": {503, `{"status":"loading","status":"loading"}`}}, unready},
		"another case":                {map[string]reply{"/readyz": {503, `{"Status":"loading","status":"Loading"}`}}, unready},
		"more behind it":              {map[string]reply{"/readyz": {503, readyz("loading") + "{}"}}, unready},
		"not a string":                {map[string]reply{"/readyz": {503, `{"status":["loading"]}`}}, unready},
		"cut":                         {map[string]reply{"/readyz": {503, `{"status":"loading"`}}, unready},
		"deep":                        {map[string]reply{"/readyz": {503, `{"status":"loading","a":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`}}, unready},
		"huge":                        {map[string]reply{"/readyz": {503, readyz("loading") + blanks}}, unready},
		"as large as is read":         {map[string]reply{"/readyz": {503, (readyz("loading") + blanks)[:maxBody]}}, loading},
		"a huge body that is ready":   {map[string]reply{"/readyz": {200, readyz("serving") + blanks}}, healthy},
		"a huge check of 0.10":        {map[string]reply{"/healthz": {200, healthz("0.10.0") + blanks}}, accepting},
		"blanks and unknown members":  {map[string]reply{"/readyz": {503, " {\"new\": [1, {}], \"status\" : \"loading\"}\r\n"}}, loading},
		"a status that is not known":  {map[string]reply{"/readyz": {503, readyz("thinking")}}, unready},
		"loading as a status and 404": {map[string]reply{"/readyz": {404, readyz("loading")}}, accepting},
	} {
		to := omnigraph(t, "")
		stop := serve(t, to, told(c.at))
		if got, _ := look(t.Context(), &to); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		stop()
	}
	to := omnigraph(t, "")
	if got, _ := look(t.Context(), &to); got != down {
		t.Errorf("refused: %v", got)
	}
}

func TestReleases(t *testing.T) {
	for _, v := range []string{"0.4.0", "0.8.0", "0.9.12", "0.10.0", "0.10.2-dev", "0.10.0+abc", "0.10.1.2"} {
		if !before11(v) {
			t.Errorf("%s is not below 0.11", v)
		}
	}
	for _, v := range []string{"", "0", "0.10", "0.11.0", "0.11.0-rc.1", "0.12.0", "0.13.0", "1.0.0", "1.10.0", "00.10.0", "0.010.0", "0.+1.0", "0.-1.0", "v0.10.0", " 0.10.0", "0.10.x", "0.10.", "0.1e1.0", "0.256.0", "0.99999999999999999999.0"} {
		if before11(v) {
			t.Errorf("%s is below 0.11", v)
		}
	}
}

// Where the server's own paths begin: behind a proxy's prefix, and not behind
// the graph that a URL for older releases names.
func TestWhereAServerIsAsked(t *testing.T) {
	good := reply{200, readyz("serving")}
	for _, c := range []struct {
		path  string
		at    map[string]reply
		want  level
		asked string
	}{
		{"", map[string]reply{"/readyz": good}, healthy, "/readyz"},
		{"/og", map[string]reply{"/og/readyz": good}, healthy, "/og/readyz"},
		{"/og", map[string]reply{"/readyz": good}, accepting, "/og/readyz /og/healthz"},
		{"/a%20b", map[string]reply{"/a b/readyz": good}, healthy, "/a%20b/readyz"},
		{"/graphs/kb", map[string]reply{"/graphs/kb/readyz": good}, healthy, "/graphs/kb/readyz"},
		{"/graphs/kb", map[string]reply{"/healthz": {200, healthz("0.10.0")}}, healthy, "/graphs/kb/readyz /graphs/kb/healthz /readyz /healthz"},
		{"/og/graphs/kb", map[string]reply{"/og/readyz": {503, readyz("loading")}}, loading, "/og/graphs/kb/readyz /og/graphs/kb/healthz /og/readyz"},
	} {
		to := omnigraph(t, c.path)
		var asked []string
		from := map[string]bool{}
		stop := serve(t, to, func(rw http.ResponseWriter, r *http.Request) {
			asked = append(asked, r.RequestURI)
			from[r.RemoteAddr] = true
			if r.Method != "GET" || r.Header.Get("Authorization")+r.Header.Get("Cookie") != "" || r.UserAgent() != "outlast" {
				t.Errorf("%s with %v", r.Method, r.Header)
			}
			told(c.at)(rw, r)
		})
		if got, _ := look(t.Context(), &to); got != c.want || strings.Join(asked, " ") != c.asked {
			t.Errorf("%s: %v after %v, want %v after %s", c.path, got, asked, c.want, c.asked)
		}
		if len(from) != 1 {
			t.Errorf("%s: %d connections for one look", c.path, len(from))
		}
		stop()
	}
}

// raw serves each connection as it is told to.
func raw(t *testing.T, to Target, answer func(net.Conn)) {
	l := listen(t, to)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				conn.Read(make([]byte, 4096))
				answer(conn)
			}()
		}
	}()
}

func TestOddAnswers(t *testing.T) {
	body := readyz("loading")
	head := func(more string) string { return "HTTP/1.1 503 Service Unavailable\r\n" + more + "\r\n\r\n" }
	slowly := func(conn net.Conn, text string, each time.Duration) {
		for i := range len(text) {
			if _, err := conn.Write([]byte{text[i]}); err != nil {
				return
			}
			time.Sleep(each)
		}
	}
	for name, c := range map[string]struct {
		answer func(net.Conn)
		want   level
	}{
		"chunked": {func(conn net.Conn) {
			io.WriteString(conn, head("Transfer-Encoding: chunked"))
			for i := range len(body) {
				fmt.Fprintf(conn, "1\r\n%c\r\n", body[i])
			}
			io.WriteString(conn, "0\r\n\r\n")
		}, loading},
		"chunks without an end": {func(conn net.Conn) {
			fmt.Fprintf(conn, "%s%x\r\n%s\r\n", head("Transfer-Encoding: chunked"), len(body), body)
		}, unready},
		"until it closes": {func(conn net.Conn) { io.WriteString(conn, head("Connection: close")+body) }, loading},
		"cut short": {func(conn net.Conn) {
			io.WriteString(conn, head(fmt.Sprintf("Content-Length: %d", len(body)+1))+body)
		}, unready},
		"slow":             {func(conn net.Conn) { slowly(conn, head("Connection: close")+body, time.Millisecond) }, loading},
		"too slow":         {func(conn net.Conn) { slowly(conn, head("Connection: close")+body, 20*time.Millisecond) }, unready},
		"without an end":   {func(conn net.Conn) { io.WriteString(conn, head("Connection: close")+body); time.Sleep(2 * timeout) }, unready},
		"for ever":         {func(conn net.Conn) { io.WriteString(conn, head("Connection: close")); io.Copy(conn, forever{}) }, unready},
		"no answer":        {func(net.Conn) { time.Sleep(2 * timeout) }, unready},
		"closed":           {func(net.Conn) {}, unanswered},
		"another protocol": {func(conn net.Conn) { io.WriteString(conn, "SSH-2.0-OpenSSH_9.2\r\n") }, accepting},
		"compressed": {func(conn net.Conn) {
			io.WriteString(conn, head("Content-Encoding: gzip\r\nConnection: close")+"\x1f\x8b\x08\x00")
		}, unready},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			to := omnigraph(t, "")
			raw(t, to, c.answer)
			began := time.Now()
			if got, _ := look(t.Context(), &to); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
			if took := time.Since(began); took > timeout+5*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

type forever struct{}

func (forever) Read(p []byte) (int, error) { return len(p), nil }

func TestTLSOfOmnigraph(t *testing.T) {
	status := atomic.Int64{}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		told(map[string]reply{"/readyz": {int(status.Load()), readyz("loading")}, "/healthz": {200, healthz("0.10.0")}})(rw, r)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	to, err := Omnigraph(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	status.Store(200)
	if got, _ := look(t.Context(), &to); got != accepting {
		t.Errorf("a certificate that nobody vouches for: %v", got)
	}
	roots = x509.NewCertPool()
	roots.AddCert(server.Certificate())
	defer func() { roots = nil }()
	for code, want := range map[int64]level{200: healthy, 503: loading, 404: healthy} {
		status.Store(code)
		if got, _ := look(t.Context(), &to); got != want {
			t.Errorf("%d: %v, want %v", code, got, want)
		}
	}
	u, _ := url.Parse(server.URL)
	plain := Target{Scheme: "http", Host: u.Hostname(), Port: u.Port(), Omnigraph: true}
	if got, _ := look(t.Context(), &plain); got != accepting {
		t.Errorf("http to a port of https: %v", got)
	}
}

// What a look over several addresses comes to: an attempt may meet any.
func TestSeveralAddresses(t *testing.T) {
	for _, c := range []struct {
		levels []level
		want   level
	}{
		{nil, unanswered},
		{[]level{down, down}, down},
		{[]level{down, loading}, loading},
		{[]level{loading, loading}, loading},
		{[]level{unanswered, loading}, unanswered},
		{[]level{unanswered, down}, unanswered},
		{[]level{unready, loading, down}, unready},
		{[]level{unanswered, unready}, unready},
		{[]level{accepting, loading}, accepting},
		{[]level{healthy, loading, unanswered}, healthy},
	} {
		l := &looking{target: &Target{Scheme: "http"}, most: unanswered}
		for _, to := range c.levels {
			l.reach(to)
		}
		if got := l.end(); got != c.want {
			t.Errorf("%v: %v, want %v", c.levels, got, c.want)
		}
	}
	// For real: refused by one, and loading at the other.
	to := omnigraph(t, "")
	serve(t, to, told(map[string]reply{"/readyz": {503, readyz("loading")}}))
	list := []netip.Addr{netip.MustParseAddr("::1"), netip.MustParseAddr("127.0.0.1")}
	if got, _ := lookAt(t.Context(), &to, list); got != loading {
		t.Errorf("refused by one: %v", got)
	}
}

// The life of a server as a watch sees it: nothing but readiness is a rise.
func TestAWatchOfALife(t *testing.T) {
	to := omnigraph(t, "")
	var now atomic.Pointer[map[string]reply]
	answers := func(at map[string]reply) { now.Store(&at) }
	w, heard := watched(t, to)
	eventually(t, "away", func() bool { return w.Seen() == host.Seen{Down: true} })
	answers(map[string]reply{"/readyz": {503, readyz("loading")}, "/healthz": {200, healthz("0.13.0")}})
	var asked atomic.Int64
	stop := serve(t, to, func(rw http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		told(*now.Load())(rw, r)
	})
	looks := func(n int64) {
		t.Helper()
		from := asked.Load()
		eventually(t, "looks", func() bool { return asked.Load() > from+n })
	}
	eventually(t, "loading", func() bool { return w.Seen() == host.Seen{NotReady: true} })
	looks(5)
	if len(heard) > 0 || w.Seen() != (host.Seen{NotReady: true}) {
		t.Errorf("loading: told %d times, %+v", len(heard), w.Seen())
	}
	for _, status := range []string{"blocked", "draining"} {
		answers(map[string]reply{"/readyz": {503, readyz(status)}})
		eventually(t, status, func() bool { return w.Seen() == host.Seen{} })
		looks(3)
		if len(heard) > 0 || w.Seen() != (host.Seen{}) {
			t.Errorf("%s: told %d times, %+v", status, len(heard), w.Seen())
		}
	}
	answers(map[string]reply{"/readyz": {200, readyz("serving")}})
	<-heard // a read goes on with the first good answer
	eventually(t, "ready", func() bool { return w.Seen() == host.Seen{Rose: abi.Ready} })
	stop()
	eventually(t, "away again", func() bool { return w.Seen() == host.Seen{Down: true} })
}

// A single good answer between others wakes no write.
func TestReadinessThatFlaps(t *testing.T) {
	to := omnigraph(t, "")
	var asked atomic.Int64
	w, _ := watched(t, to)
	eventually(t, "away", func() bool { return w.Seen().Down })
	serve(t, to, func(rw http.ResponseWriter, r *http.Request) {
		at := map[string]reply{"/readyz": {200, readyz("serving")}}
		if asked.Add(1)%2 == 0 {
			at["/readyz"] = reply{503, readyz("loading")}
		}
		told(at)(rw, r)
	})
	for asked.Load() <= 12 {
		if got := w.Seen(); got.Rose == abi.Ready {
			t.Fatalf("after %d answers: %+v", asked.Load(), got)
		}
		time.Sleep(time.Millisecond)
	}
}

// A read is not woken by a connection that is then answered with loading, nor by
// one without an answer; 0.10 wakes it, and in time.
func TestAReadIsWokenByTheAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		want    bool
	}{
		"loading, slowly": {func(rw http.ResponseWriter, r *http.Request) {
			time.Sleep(4 * steady)
			told(map[string]reply{"/readyz": {503, readyz("loading")}})(rw, r)
		}, false},
		"blocked":   {told(map[string]reply{"/readyz": {503, readyz("blocked")}}), false},
		"no answer": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, false},
		"0.10":      {told(map[string]reply{"/healthz": {200, healthz("0.10.0")}}), true},
		"0.13":      {told(map[string]reply{"/readyz": {200, readyz("serving")}}), true},
	} {
		t.Run(name, func(t *testing.T) {
			to := omnigraph(t, "")
			w, heard := watched(t, to)
			eventually(t, "away", func() bool { return w.Seen().Down })
			serve(t, to, c.handler)
			wait := 1500 * time.Millisecond
			if c.want {
				wait = long
			}
			select {
			case <-heard:
				if !c.want {
					t.Errorf("woken: %+v", w.Seen())
				}
			case <-time.After(wait):
				if c.want {
					t.Errorf("not woken: %+v", w.Seen())
				}
			}
		})
	}
}

// Whatever an answer is, a look ends, and only the one word is loading.
func FuzzAnswers(f *testing.F) {
	for _, text := range []string{readyz("loading"), readyz("serving"), healthz("0.10.0"), `{"status":"loading"}`, `{"status":"lo\u0061ding"}`, "", "{", "null", `{"version":"0.10.0-\ud800"}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		switch got := loads(&answer{status: 503, body: body}); got {
		case loading:
			if s := string(body); !strings.Contains(s, `"status"`) && !strings.Contains(s, `\u`) {
				t.Errorf("%q is %v", body, got)
			}
		case unanswered:
		default:
			t.Errorf("%q is %v", body, got)
		}
		if listensWhenReady(&answer{status: 200, body: body}) == healthy && !strings.Contains(string(body), "0") && !strings.Contains(string(body), `\u`) {
			t.Errorf("%q is ready", body)
		}
	})
}
