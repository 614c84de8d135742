package omnigraph

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRepairArgv(t *testing.T) {
	for _, c := range []struct {
		line  string
		force bool
		want  []string
	}{
		{"/opt/omnigraph mutate q --store /srv/g --as me", false, args("/opt/omnigraph repair --store /srv/g --confirm --quiet")},
		{"/opt/omnigraph mutate q --store /srv/g", true, args("/opt/omnigraph repair --store /srv/g --confirm --force --quiet")},
		{"omnigraph load --data d g", false, args("omnigraph repair --store g --confirm --quiet")},
		{"omnigraph load --data d --store s3://b/g", true, args("omnigraph repair --store s3://b/g --confirm --force --quiet")},
		{"omnigraph mutate q --server http://h", true, nil},
		{"omnigraph mutate q", true, nil},
		{"omnigraph mutate q --store g --server s", true, nil},
		{"omnigraph optimize --cluster d", true, nil},
	} {
		if diff := cmp.Diff(c.want, RepairArgv(Parse(args(c.line)), c.force)); diff != "" {
			t.Errorf("%s, force %v: %s", c.line, c.force, diff)
		}
	}
}

// The repair is itself a write to the same store, under the same lock.
func TestRepairIsAWriteUnderTheSameLock(t *testing.T) {
	inv := Parse(args("omnigraph load --data d ./a//g"))
	repair := Parse(RepairArgv(inv, true))
	if !repair.Write || !slices.Equal(LockPaths(repair), LockPaths(inv)) || len(LockPaths(inv)) == 0 {
		t.Errorf("%+v locks %q, %+v locks %q", repair, LockPaths(repair), inv, LockPaths(inv))
	}
}
