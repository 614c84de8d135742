package ready

import (
	"net/netip"
	"net/url"
	"runtime"
	"slices"
	"strings"
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
	vars := environment(env)
	own, alternative := "HTTP_PROXY", "http_proxy"
	if t.Scheme == "https" {
		own, alternative = "HTTPS_PROXY", "https_proxy"
	}
	names := []string{own, alternative, "ALL_PROXY", "all_proxy"}
	if _, cgi := vars["REQUEST_METHOD"]; cgi && own == "HTTP_PROXY" {
		names = names[2:] // anyone could set it with a header "Proxy"
	}
	for _, name := range names {
		if isProxy(vars[name]) && !spared(vars, t.Host) {
			return name, true
		}
	}
	return "", false
}

// environment is a list of name=value as a map; the last one counts, as it does
// for a process that os/exec starts. Names on Windows have no case.
func environment(env []string) map[string]string {
	vars := make(map[string]string, len(env))
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		vars[name] = value
		if runtime.GOOS == "windows" {
			vars[strings.ToUpper(name)] = value
		}
	}
	return vars
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
func spared(vars map[string]string, host string) bool {
	list, ok := vars["NO_PROXY"]
	if !ok {
		list = vars["no_proxy"]
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
