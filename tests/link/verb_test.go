//go:build unix

package link

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheVerb(t *testing.T) {
	h := newHouse(t)
	h.must(os.Remove(h.at("link/omnigraph")))
	outlast := filepath.Join(built, "outlast")
	run := func(args ...string) end {
		t.Helper()
		e := h.run(nil, append([]string{outlast, "link"}, args...)...)
		e.Stdout = strings.ReplaceAll(strings.ReplaceAll(e.Stdout, h.root, "ROOT"), built, "BUILT")
		e.Stderr = strings.ReplaceAll(e.Stderr, h.root, "ROOT")
		return e
	}
	const works = `ROOT/link/omnigraph leads to BUILT/outlast
A program that calls omnigraph gets outlast, which runs ROOT/real/omnigraph.
A shell that has called omnigraph before may remember where it was: hash -r
`
	for _, c := range []struct {
		args string
		want end
	}{
		{"omnigraph --check", end{"", "outlast: link: no link: a program that calls omnigraph gets ROOT/real/omnigraph itself\n", 1}},
		{"omnigraph --dir ROOT/home", end{"", "outlast: link: ROOT/home has to be on PATH, before ROOT/real, where omnigraph is; with PATH=ROOT/home:$PATH it is\n", 1}},
		{"omnigraph --dir ROOT/link", end{works, "", 0}},
		{"omnigraph --dir ROOT/link", end{works, "", 0}},
		{"omnigraph --check", end{works, "", 0}},
		{"omnigraph --remove", end{"removed ROOT/link/omnigraph\n", "", 0}},
		{"omnigraph --remove", end{"", "outlast: link: no folder of PATH has a link named omnigraph to outlast; another one is named with --dir\n", 1}},
		{"omnigraph --remove --dir ROOT/real", end{"", "outlast: link: ROOT/real/omnigraph is no link to outlast: it is left alone\n", 1}},
		{"", end{"", "outlast: link: expected the command's name, such as omnigraph\n", 2}},
		{"omnigraph", end{"", "outlast: link: expected the link's folder with --dir, one that is on PATH before omnigraph's\n", 2}},
		{"omnigraph --check --dir ROOT/link", end{"", "outlast: link: --check looks at all of PATH; leave --dir out\n", 2}},
		{"frobnicate --dir ROOT/link", end{"", "outlast: link: there is no policy for frobnicate that a link could use\n", 2}},
	} {
		if got := run(strings.Fields(strings.ReplaceAll(c.args, "ROOT", h.root))...); got != c.want {
			t.Errorf("link %s:\n%+v\nwant\n%+v", c.args, got, c.want)
		}
	}
	run("omnigraph", "--dir", h.at("link"))
	for variable, why := range map[string]string{
		"OUTLAST_OFF=1":           "OUTLAST_OFF is set here",
		"OUTLAST_ATTEMPT=1":       "OUTLAST_ATTEMPT is set here",
		"OUTLAST_MAX_WAIT=banana": "cannot be set up here",
	} {
		if got := h.run([]string{variable}, outlast, "link", "omnigraph", "--check"); got.Code != 1 || !strings.Contains(got.Stderr, why) {
			t.Errorf("%s: %+v", variable, got)
		}
	}
	if _, err := os.Stat(h.at("real/omnigraph")); err != nil {
		t.Error(err)
	}
}
