package ready

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"outlast/abi/strictjson"
)

// Where a server of omnigraph's tells of itself. The first is there since 0.11;
// the second is 200 for as long as the process lives, so that it means readiness
// only where a server listens no sooner than it can serve: below 0.11.
const (
	readyPath  = "/readyz"
	healthPath = "/healthz"
)

// life is what a server of omnigraph's says of itself: away, loading, ready,
// closing. Each look asks anew, for a restart may bring another release. A server
// that is seen only to accept does not count: 0.12 and later listen before they
// can serve, so that a call which it woke would fail again.
func (v *visit) life(ctx context.Context) level {
	for _, root := range v.target.roots() {
		for _, place := range places {
			if l, there := v.see(ctx, root+place.path, place.says); there {
				return l
			}
		}
	}
	return accepting // what answers has no such paths, such as an ingress without a route
}

// places are asked in turn, until one of them is there.
var places = []struct {
	path string
	says func(*answer) level // unanswered: nothing that counts
}{{readyPath, loads}, {healthPath, listensWhenReady}}

// roots are the places where the server's own paths may begin. A URL that names
// a graph is one of those that releases up to 0.11 were given; a proxy may have a
// path that looks like that, so the URL as it is comes first.
func (t *Target) roots() []string {
	parts := strings.Split(t.Path, "/")
	if n := len(parts); n >= 3 && parts[n-2] == "graphs" {
		return []string{t.Path, strings.Join(parts[:n-2], "/")}
	}
	return []string{t.Path}
}

// see asks for a path, if it is there.
func (v *visit) see(ctx context.Context, path string, says func(*answer) level) (l level, there bool) {
	got, err := v.ask(ctx, path)
	switch {
	case err != nil && ctx.Err() != nil:
		return unready, true // it accepts, and does not answer
	case err != nil && !got.heard:
		return unanswered, true // closed without a word
	case err != nil:
		return accepting, true
	case got.status == http.StatusNotFound:
		return accepting, false
	}
	if l := says(&got); l > unanswered {
		return l, true
	}
	if got.status >= http.StatusInternalServerError {
		return unready, true
	}
	return accepting, true
}

// loads reads an answer of /readyz. Of what is told with 503 only loading passes
// by itself; blocked and draining need somebody, whom an attempt's error tells.
func loads(a *answer) level {
	switch {
	case a.status == http.StatusOK:
		return healthy
	case a.status == http.StatusServiceUnavailable && member(a.body, "status") == "loading":
		return loading
	}
	return unanswered
}

// listensWhenReady reads an answer of /healthz where there is no /readyz.
func listensWhenReady(a *answer) level {
	if a.status == http.StatusOK && before11(member(a.body, "version")) {
		return healthy
	}
	return unanswered
}

// before11 says whether a release is below 0.11: 0.MINOR.PATCH, and whatever
// follows.
func before11(version string) bool {
	parts := strings.SplitN(version, ".", 3)
	if len(parts) < 3 || parts[0] != "0" || parts[2] == "" || parts[2][0] < '0' || parts[2][0] > '9' {
		return false
	}
	minor, err := strconv.ParseUint(parts[1], 10, 8)
	return err == nil && minor < 11 && strconv.FormatUint(minor, 10) == parts[1]
}

// member is a string of the one JSON object that a body is; "" if it has no such
// member, or is anything else.
func member(body []byte, name string) string {
	v, err := strictjson.Parse(string(body), strictjson.Limits{Bytes: maxBody, Depth: maxDepth})
	if err != nil || v.Kind != strictjson.Object {
		return ""
	}
	if i := slices.Index(v.Names, name); i >= 0 && v.Items[i].Kind == strictjson.String {
		return v.Items[i].Text
	}
	return ""
}

// maxDepth bounds the nesting of an answer (a choice: omnigraph's have none).
const maxDepth = 8
