package ready

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"outlast/internal/environ"
)

// ProxyFor says whether a command with this environment reaches the target by a
// proxy, and which variable selects it. Looks use no proxy, so that they would
// see another server than the command's attempts, or see one that those cannot
// reach: an automatic target is not watched then.
//
// The rules are those of reqwest, which omnigraph uses. They differ from Go's:
// ALL_PROXY counts, loopback is not spared, and "*" in NO_PROXY spares names but
// not addresses. Where releases of reqwest differ, a proxy counts as selected.
func ProxyFor(env []string, t Target) (name string, selected bool) {
	own, alternative := "HTTP_PROXY", "http_proxy"
	if t.Scheme == "https" {
		own, alternative = "HTTPS_PROXY", "https_proxy"
	}
	names := []string{own, alternative, "ALL_PROXY", "all_proxy"}
	if _, cgi := environ.Find(env, "REQUEST_METHOD"); cgi && own == "HTTP_PROXY" {
		names = names[2:] // anyone could set it with a header "Proxy"
	}
	for _, name := range names {
		if isProxy(environ.Get(env, name)) && !spared(env, t.Host) {
			return name, true
		}
	}
	return "", false
}

// isProxy says whether a value names a proxy. One without a scheme is HTTP's.
// What cannot be read here may be one that the command reads all the same, such
// as a password with a "%" in it.
func isProxy(value string) bool {
	if value == "" {
		return false
	}
	if !strings.Contains(value, "://") {
		value = "http://" + value
	}
	u, err := url.Parse(value)
	return err != nil || u.Host != "" && slices.Contains([]string{"http", "https", "socks4", "socks4a", "socks5", "socks5h"}, u.Scheme)
}

// spared says whether NO_PROXY, or without that no_proxy, has the host.
func spared(env []string, host string) bool {
	list, ok := environ.Find(env, "NO_PROXY")
	if !ok {
		list = environ.Get(env, "no_proxy")
	}
	address, err := netip.ParseAddr(host)
	for _, entry := range strings.Split(list, ",") {
		entry = strings.TrimSpace(entry)
		if err == nil && hasAddress(entry, address) || err != nil && hasName(entry, host) {
			return true
		}
	}
	return false
}

func hasAddress(entry string, address netip.Addr) bool {
	if network, err := netip.ParsePrefix(entry); err == nil {
		return network.Contains(address)
	}
	one, err := netip.ParseAddr(entry)
	return err == nil && one == address
}

// hasName says whether an entry is a name or a domain above it, with or without
// a dot in front.
func hasName(entry, host string) bool {
	if entry == "*" {
		return true
	}
	entry, host = strings.ToLower(strings.TrimPrefix(entry, ".")), strings.ToLower(host)
	return entry != "" && (host == entry || strings.HasSuffix(host, "."+entry))
}
