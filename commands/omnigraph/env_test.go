package omnigraph

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEnv(t *testing.T) {
	const own = TokenVar + "=ambient"
	for _, c := range []struct {
		name, line, token string
		environ, want     []string
	}{
		{"server", "omnigraph query q --server s", "t1", []string{"A=1", own, "B=2"}, []string{"A=1", "B=2", TokenVar + "=t1"}},
		{"server, twice in the environment", "omnigraph query q --server s", "t1", []string{own, own}, []string{TokenVar + "=t1"}},
		{"server, inherited", "omnigraph query q --server s", "", []string{"A=1", own}, []string{"A=1", own}},
		{"unknown target", "omnigraph query q", "t1", nil, []string{TokenVar + "=t1"}},
		{"path", "omnigraph load --store g", "t1", []string{own, "A=1"}, []string{"A=1"}},
		{"path, no token", "omnigraph load --store g", "", []string{own}, []string{}},
		{"object storage", "omnigraph load --store s3://b/g", "t1", []string{own}, []string{}},
		{"cluster", "omnigraph optimize --cluster d", "t1", []string{own}, []string{own}},
		{"nothing to address", "omnigraph version", "t1", []string{own}, []string{own}},
		{"like the token's name", "omnigraph load g", "", []string{TokenVar + "S_FILE=x", "X" + own}, []string{TokenVar + "S_FILE=x", "X" + own}},
	} {
		before := slices.Clone(c.environ)
		got := Env(c.environ, Parse(args(c.line)), c.token)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		if !slices.Equal(before, c.environ) {
			t.Errorf("%s: the environment was changed", c.name)
		}
	}
}
