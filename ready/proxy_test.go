package ready

import (
	"strings"
	"testing"
)

// The rules of reqwest 0.11 to 0.13, as in its src/proxy.rs and in hyper-util's
// client/proxy/matcher.rs.
func TestProxyFor(t *testing.T) {
	const proxied = "http://p:3128"
	for _, c := range []struct{ env, target, want string }{
		{"", "http://graph", ""},
		{"HTTP_PROXY=" + proxied, "http://graph", "HTTP_PROXY"},
		{"http_proxy=" + proxied, "http://graph", "http_proxy"},
		{"HTTP_PROXY=" + proxied + " http_proxy=" + proxied, "http://graph", "HTTP_PROXY"},
		{"HTTP_PROXY= http_proxy=" + proxied, "http://graph", "http_proxy"},
		{"HTTP_PROXY=" + proxied, "https://graph", ""},
		{"HTTPS_PROXY=" + proxied, "https://graph", "HTTPS_PROXY"},
		{"https_proxy=" + proxied, "https://graph", "https_proxy"},
		{"HTTPS_PROXY=" + proxied, "http://graph", ""},
		{"ALL_PROXY=" + proxied, "http://graph", "ALL_PROXY"},
		{"all_proxy=socks5://p:1080", "https://graph", "all_proxy"},
		{"all_proxy=" + proxied, "tcp://graph:1", "all_proxy"},
		// Loopback is not spared.
		{"HTTP_PROXY=" + proxied, "http://127.0.0.1:8080", "HTTP_PROXY"},
		{"HTTP_PROXY=" + proxied, "http://localhost:8080", "HTTP_PROXY"},
		{"HTTP_PROXY=" + proxied, "http://[::1]:8080", "HTTP_PROXY"},
		// A CGI program's HTTP_PROXY is its caller's.
		{"REQUEST_METHOD= HTTP_PROXY=" + proxied, "http://graph", ""},
		{"REQUEST_METHOD=GET http_proxy=" + proxied, "http://graph", ""},
		{"REQUEST_METHOD=GET ALL_PROXY=" + proxied, "http://graph", "ALL_PROXY"},
		{"REQUEST_METHOD=GET HTTPS_PROXY=" + proxied, "https://graph", "HTTPS_PROXY"},
		// What is no proxy.
		{"HTTP_PROXY=", "http://graph", ""},
		{"HTTP_PROXY=ftp://p:21", "http://graph", ""},
		{"HTTP_PROXY=http://", "http://graph", ""},
		{"HTTP_PROXY=p:3128", "http://graph", "HTTP_PROXY"},
		{"HTTP_PROXY=u:s@p", "http://graph", "HTTP_PROXY"},
		{"Http_Proxy=" + proxied, "http://graph", ""},
		// What cannot be read here may be one to the command.
		{"HTTP_PROXY=http://u:p%w@p:3128", "http://graph", "HTTP_PROXY"},
		{"HTTP_PROXY=http://u:100%@p:3128", "http://graph", "HTTP_PROXY"},
		{"https_proxy=u:%zz@p:3128", "https://graph", "https_proxy"},
		{"ALL_PROXY=socks5h://u:%@p", "http://graph", "ALL_PROXY"},
		{"HTTP_PROXY=http://u:a#b@p:3128", "http://graph", "HTTP_PROXY"},
		{"HTTP_PROXY=http://u:p%w@p:3128 NO_PROXY=graph", "http://graph", ""},
		// The last of two counts.
		{"HTTP_PROXY=" + proxied + " HTTP_PROXY=", "http://graph", ""},
		// Names.
		{"HTTP_PROXY=" + proxied + " NO_PROXY=graph", "http://graph", ""},
		{"HTTP_PROXY=" + proxied + " no_proxy=GRAPH", "http://graph", ""},
		{"HTTP_PROXY=" + proxied + " NO_PROXY= no_proxy=graph", "http://graph", "HTTP_PROXY"},
		{"HTTP_PROXY=" + proxied + " NO_PROXY=a,graph,b", "http://graph:8080", ""},
		{"HTTP_PROXY=" + proxied + " NO_PROXY=example.com", "http://a.example.com", ""},
		{"HTTP_PROXY=" + proxied + " NO_PROXY=.example.com", "http://a.b.example.com", ""},
		{"HTTP_PROXY=" + proxied + " NO_PROXY=.example.com", "http://example.com", ""},
		{"HTTP_PROXY=" + proxied + " NO_PROXY=example.com", "http://notexample.com", "HTTP_PROXY"},
		{"HTTP_PROXY=" + proxied + " NO_PROXY=a.example.com", "http://example.com", "HTTP_PROXY"},
		{"HTTP_PROXY=" + proxied + " NO_PROXY=*.example.com", "http://a.example.com", "HTTP_PROXY"},
		{"HTTP_PROXY=" + proxied + " NO_PROXY=graph:8080", "http://graph:8080", "HTTP_PROXY"},
		{"HTTP_PROXY=" + proxied + " NO_PROXY=,", "http://graph", "HTTP_PROXY"},
		{"ALL_PROXY=" + proxied + " NO_PROXY=*", "http://graph", ""},
		// Addresses.
		{"HTTP_PROXY=" + proxied + " NO_PROXY=*", "http://127.0.0.1", "HTTP_PROXY"},
		{"HTTP_PROXY=" + proxied + " NO_PROXY=127.0.0.1", "http://127.0.0.1", ""},
		{"HTTP_PROXY=" + proxied + " NO_PROXY=127.0.0.0/8", "http://127.3.2.1", ""},
		{"HTTP_PROXY=" + proxied + " NO_PROXY=10.42.1.1/24", "http://10.42.1.100", ""},
		{"HTTP_PROXY=" + proxied + " NO_PROXY=10.42.1.1/24", "http://10.43.1.1", "HTTP_PROXY"},
		{"HTTP_PROXY=" + proxied + " NO_PROXY=::1", "http://[::1]:8080", ""},
		{"HTTP_PROXY=" + proxied + " NO_PROXY=2001::/17", "http://[2001:db8::1]", ""},
		{"HTTP_PROXY=" + proxied + " NO_PROXY=2001::/17", "http://[ffff:db8::1]", "HTTP_PROXY"},
		{"HTTP_PROXY=" + proxied + " NO_PROXY=localhost", "http://127.0.0.1", "HTTP_PROXY"},
		{"HTTP_PROXY=" + proxied + " NO_PROXY=127.0.0.1", "http://localhost", "HTTP_PROXY"},
	} {
		target, err := Parse(c.target)
		if err != nil {
			t.Fatal(err)
		}
		name, selected := ProxyFor(strings.Fields(c.env), *target.Target)
		if name != c.want || selected != (c.want != "") {
			t.Errorf("%s to %s: got %q, want %q", c.env, c.target, name, c.want)
		}
	}
	spaced := []string{"HTTP_PROXY=" + proxied, "NO_PROXY= a , graph ,b"}
	if name, _ := ProxyFor(spaced, Target{Scheme: "http", Host: "graph"}); name != "" {
		t.Errorf("blanks between entries: %s", name)
	}
}
