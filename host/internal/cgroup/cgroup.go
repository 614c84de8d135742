// Package cgroup reads how much memory the limits of Linux's control groups leave
// to this process.
package cgroup

import (
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// version has the files of a version of control groups.
type version struct{ mount, limit, usage, idle string }

var (
	v1 = version{"sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"}
	v2 = version{"sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"}
)

// MemoryLeft is how many bytes the process may still take: the least that the limits
// of its group and of those above it leave. Pages of files that nobody uses count as
// free, since the kernel drops them first. limited is false where no limit is seen.
// The root is that of the file system.
func MemoryLeft(root fs.FS) (left int64, limited bool) {
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(groups)) {
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(parts) < 3 {
			continue
		}
		v := v2
		switch {
		case parts[0] == "0" && parts[1] == "":
		case parts[1] == "memory":
			v = v1
		default:
			continue
		}
		// In a container the way to the group may be the host's, while what is mounted
		// begins with the group itself: the files of such a way are not there.
		for group := path.Clean("/" + parts[2]); ; group = path.Dir(group) {
			if n, ok := v.left(root, v.mount+group); ok && (!limited || n < left) {
				left, limited = n, true
			}
			if group == "/" {
				break
			}
		}
	}
	return left, limited
}

// left is what the limit of one group leaves.
func (v version) left(root fs.FS, group string) (int64, bool) {
	group = path.Clean(group)
	limit, ok := number(root, group+"/"+v.limit)
	if !ok {
		return 0, false // also "max", which is none
	}
	usage, ok := number(root, group+"/"+v.usage)
	if !ok {
		return 0, false
	}
	stat, _ := fs.ReadFile(root, group+"/memory.stat")
	for line := range strings.Lines(string(stat)) {
		if name, value, _ := strings.Cut(strings.TrimSpace(line), " "); name == v.idle {
			idle, _ := strconv.ParseInt(value, 10, 64)
			usage -= idle
		}
	}
	return limit - usage, true
}

func number(root fs.FS, name string) (int64, bool) {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil
}
