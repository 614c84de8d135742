package ready

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]Choice{
		"auto":                          {Auto: true},
		"off":                           {},
		"tcp://graph:8080":              {Target: &Target{Scheme: "tcp", Host: "graph", Port: "8080"}},
		"tcp://[::1]:8080/":             {Target: &Target{Scheme: "tcp", Host: "::1", Port: "8080"}},
		"http://graph":                  {Target: &Target{Scheme: "http", Host: "graph", Port: "80", Path: "/healthz"}},
		"HTTPS://Graph/":                {Target: &Target{Scheme: "https", Host: "Graph", Port: "443", Path: "/healthz"}},
		"https://graph:8443/up?full=1":  {Target: &Target{Scheme: "https", Host: "graph", Port: "8443", Path: "/up?full=1"}},
		"http://10.0.0.1:1/a%20b#204":   {Target: &Target{Scheme: "http", Host: "10.0.0.1", Port: "1", Path: "/a%20b", Statuses: []int{204}}},
		"http://graph:8080/x#200, 401":  {Target: &Target{Scheme: "http", Host: "graph", Port: "8080", Path: "/x", Statuses: []int{200, 401}}},
		"http://graph?q":                {Target: &Target{Scheme: "http", Host: "graph", Port: "80", Path: "/?q"}},
		"http://[fe80::1%25eth0]:8080/": {Target: &Target{Scheme: "http", Host: "fe80::1%eth0", Port: "8080", Path: "/healthz"}},
	} {
		got, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
		if got.Target != nil && !strings.Contains(text, "%25") {
			if again, err := Parse(got.Target.key()); err != nil || !cmp.Equal(again, got) {
				t.Errorf("%s is written as %s: %v", text, got.Target, err)
			}
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "has none of the schemes",
		"Auto":                     "has none of the schemes",
		"graph:8080":               "has none of the schemes",
		"graph":                    "has none of the schemes",
		"ftp://graph":              "has none of the schemes",
		"tcp://graph":              "has no port",
		"tcp://:8080":              "has no host",
		"tcp://graph:8080/x":       "has more than a host and a port",
		"tcp://graph:8080#200":     "has more than a host and a port",
		"http://":                  "has no host",
		"http://graph:0":           `has the port "0"`,
		"http://graph:65536":       `has the port "65536"`,
		"http://graph:x":           "is not a URL",
		"http://graph/x#ok":        `has the status "ok"`,
		"http://graph/x#200,":      `has the status ""`,
		"http://graph/x#100":       `has the status "100"`,
		"http://me:secret@graph/":  "has a user name",
		"udp://graph/?key=secret":  "expected",
		"http://me:se@cret@gr aph": "is not a URL",
	} {
		_, err := Parse(text)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `expected "auto", "off"`) {
			t.Errorf("%q: %v", text, err)
		}
		if err != nil && (strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "cret@")) {
			t.Errorf("%q: a password is shown: %v", text, err)
		}
	}
}

func TestOmnigraph(t *testing.T) {
	for url, want := range map[string]string{
		"http://graph:8080":                  "http://graph:8080/readyz",
		"http://graph:8080/":                 "http://graph:8080/readyz",
		"http://graph:8080//":                "http://graph:8080/readyz",
		"HTTPS://Graph":                      "https://Graph:443/readyz",
		"https://me:secret@graph/og?a=b#200": "https://graph:443/og/readyz",
		"https://graph/a%20b/og/":            "https://graph:443/a%20b/og/readyz",
		"http://[::1]:8080":                  "http://[::1]:8080/readyz",
		"http://graph:8080/graphs/kb":        "http://graph:8080/graphs/kb/readyz",
	} {
		got, err := Omnigraph(url)
		if err != nil || got.String() != want || !got.Omnigraph || got.key() != "omnigraph "+want {
			t.Errorf("%s: %s, %v", url, got, err)
		}
	}
	for _, url := range []string{"", "graph:8080", "tcp://graph:1", "http://", "http://graph:70000", "http://me:secret@gr aph", "http://me:secret@:80", "http://me:secret@graph:0/?q=secret", "ftp://me:secret@graph"} {
		if got, err := Omnigraph(url); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %s, %v", url, got, err)
		}
	}
	// The same URL as a health check of the user's own is another target.
	own, err := Parse("http://graph:8080/readyz")
	theirs, err2 := Omnigraph("http://graph:8080")
	if err != nil || err2 != nil || own.Target.String() != theirs.String() || own.Target.key() == theirs.key() {
		t.Errorf("%s and %s: %v, %v", own.Target.key(), theirs.key(), err, err2)
	}
}

func TestRoots(t *testing.T) {
	for path, want := range map[string][]string{
		"":              {""},
		"/og":           {"/og"},
		"/graphs":       {"/graphs"},
		"/graphs/kb":    {"/graphs/kb", ""},
		"/og/graphs/kb": {"/og/graphs/kb", "/og"},
		"/graphs/kb/og": {"/graphs/kb/og"},
		"/a/b/c":        {"/a/b/c"},
	} {
		if diff := cmp.Diff(want, (&Target{Path: path}).roots()); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
}

// A query may hold a secret: it tells targets apart, and is shown nowhere.
func TestAQueryIsHidden(t *testing.T) {
	for text, want := range map[string]string{
		"http://graph:1/up?key=secret":             "http://graph:1/up?…",
		"https://graph?secret":                     "https://graph:443/?…",
		"http://graph:1/up?key=secret#200,401":     "http://graph:1/up?…#200,401",
		"http://graph:1/up?a=b?secret&c=%2Fsecret": "http://graph:1/up?…",
		"http://graph:1/up?a=me@secret":            "http://graph:1/up?…",
	} {
		got, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if s := got.Target.String(); s != want {
			t.Errorf("%s is shown as %s", text, s)
		}
		other, err := Parse(strings.Replace(text, "secret", "another", 1))
		if err != nil || other.Target.key() == got.Target.key() {
			t.Errorf("%s: one target with that of another query: %v", text, err)
		}
	}
	for _, text := range []string{
		"udp://graph/?key=secret", "http://graph/?key=a#secret", "http://secret#tail@graph", "http://me:1#secret@graph",
		"tcp://graph:1/?secret", "http://gr aph/?secret", "http://graph:0/?secret", "http://me:secret@graph?secret",
	} {
		if _, err := Parse(text); err == nil || strings.Contains(err.Error(), "tail") || strings.Contains(err.Error(), "#secret") || strings.Contains(err.Error(), "=secret") || strings.Contains(err.Error(), "?secret") || strings.Contains(err.Error(), ":secret") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestShown(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "",
		"graph:8080":                     "graph:8080",
		"http://graph:8080/x#200":        "http://graph:8080/x#200",
		"http://me:secret@graph":         "http://…@graph",
		"http://me:se@cret@graph/x":      "http://…@graph/x",
		"me:secret@graph":                "…@graph",
		"http://graph?key=secret":        "http://graph?…",
		"http://graph?":                  "http://graph?…",
		"http://me:secret@graph/?secret": "http://…@graph/?…",
		"http://me:sec?ret@graph":        "…",
		"http://graph/?a=me@secret":      "…",
		"me:sec?http://ret@graph":        "…",
		"me:secret@x://graph":            "…",
	} {
		if got := Shown(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}
