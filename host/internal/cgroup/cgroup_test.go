package cgroup_test

import (
	"strconv"
	"testing"
	"testing/fstest"

	"outlast/host/internal/cgroup"
)

// Files of both versions, as kernels and containers have them.
func TestMemoryLeft(t *testing.T) {
	const unlimited int64 = 9223372036854771712 // as version 1 says it
	group := func(limit, usage, idle string) map[string]string {
		return map[string]string{"limit": limit, "usage": usage, "stat": "cache 5\ninactive_file " + idle + "\ntotal_inactive_file " + idle + "\n"}
	}
	for name, test := range map[string]struct {
		self   string
		mount  string
		v1     bool
		groups map[string]map[string]string // by their ways
		left   int64
		none   bool
	}{
		"no groups":          {self: "", none: true},
		"2, no limit":        {self: "0::/a\n", groups: map[string]map[string]string{"a": group("max", "5", "0")}, none: true},
		"2, in a container":  {self: "0::/\n", groups: map[string]map[string]string{".": group("1000", "300", "100")}, left: 800},
		"2, a parent's":      {self: "0::/a/b\n", groups: map[string]map[string]string{"a": group("1000", "900", "0"), "a/b": group("500", "100", "0")}, left: 100},
		"2, its own":         {self: "0::/a/b\n", groups: map[string]map[string]string{"a": group("1000", "100", "0"), "a/b": group("500", "100", "0")}, left: 400},
		"2, outside of it":   {self: "0::/../c\n", groups: map[string]map[string]string{".": group("1000", "300", "0")}, left: 700},
		"1, no limit":        {v1: true, self: "4:memory:/a\n0::/\n", groups: map[string]map[string]string{"a": group(strconv.FormatInt(unlimited, 10), "2000", "0")}, left: unlimited - 2000},
		"1, a limit":         {v1: true, self: "9:cpu:/x\n4:memory:/a:b\n0::/\n", groups: map[string]map[string]string{"a:b": group("1000", "600", "500")}, left: 900},
		"1, the host's way":  {v1: true, self: "4:memory:/docker/5f\n", groups: map[string]map[string]string{".": group("1000", "600", "0")}, left: 400},
		"a file of nonsense": {self: "x\n0::/a\n", groups: map[string]map[string]string{"a": group("many", "600", "0")}, none: true},
	} {
		root := fstest.MapFS{}
		if test.self != "" {
			root["proc/self/cgroup"] = &fstest.MapFile{Data: []byte(test.self)}
		}
		mount, names := "sys/fs/cgroup/", map[string]string{"limit": "memory.max", "usage": "memory.current", "stat": "memory.stat"}
		if test.v1 {
			mount, names = mount+"memory/", map[string]string{"limit": "memory.limit_in_bytes", "usage": "memory.usage_in_bytes", "stat": "memory.stat"}
		}
		for way, files := range test.groups {
			for file, text := range files {
				if way == "." {
					root[mount+names[file]] = &fstest.MapFile{Data: []byte(text + "\n")}
				} else {
					root[mount+way+"/"+names[file]] = &fstest.MapFile{Data: []byte(text + "\n")}
				}
			}
		}
		if left, limited := cgroup.MemoryLeft(root); limited == test.none || left != test.left {
			t.Errorf("%s: %d, %t; want %d", name, left, limited, test.left)
		}
	}
}
