// Package standin stands in for omnigraph where the real one is not at hand: in
// the project's tests and in the tool's demo. It has omnigraph's command and its
// server, of any release since 0.10, with real processes, sockets and files, and
// what both print and answer is byte for byte what those releases were captured
// printing, or, where no release could be had, what their source prints. It
// knows no graph: a write is a line in a ledger, which tests count.
package standin

import (
	"fmt"
	"strconv"
	"strings"
)

// Release is a release of omnigraph, such as 0.13.
type Release struct {
	minor int
	dev   bool // before its release: 0.12-dev names no cause of a failed discovery
}

// Latest is the newest release whose texts are known.
var Latest = Release{minor: 13}

// ParseRelease reads 0.10, 0.12-dev and the like; nothing is the latest.
func ParseRelease(text string) (Release, error) {
	if text == "" {
		return Latest, nil
	}
	number, dev := strings.CutSuffix(text, "-dev")
	tail, found := strings.CutPrefix(number, "0.")
	minor, err := strconv.Atoi(tail)
	if !found || err != nil || minor < 10 || minor > 99 || (dev && minor != 12) {
		return Release{}, fmt.Errorf("release: expected one from 0.10 on, or 0.12-dev, not %q", text)
	}
	return Release{minor, dev}, nil
}

func (r Release) String() string {
	if r.dev {
		return r.contract() + "-dev"
	}
	return r.contract()
}

// contract is the value of the header that both sides send.
func (r Release) contract() string { return "0." + strconv.Itoa(r.minor) }

// header is its name as texts spell it.
func (r Release) header() string {
	if r.dev {
		return "Omnigraph-Http-Api"
	}
	return header
}

const header = "omnigraph-http-api"

// discovers says whether the command asks /healthz before each request, and
// tells a write's outcome: both came with 0.12.
func (r Release) discovers() bool { return r.minor >= 12 }

// hasReadyz says whether the server has that route.
func (r Release) hasReadyz() bool { return r.minor >= 11 }

// bindsFirst says whether the server listens before its graphs are open.
func (r Release) bindsFirst() bool { return r.minor >= 12 }

// schema is the internal schema, which health answers and `version` name.
func (r Release) schema() int {
	switch {
	case r.minor <= 10:
		return 6
	case r.minor <= 12:
		return 9
	}
	return 14
}
