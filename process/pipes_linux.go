package process

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"outlast/process/procfs"
)

// isStopped says whether the process is stopped, as by Ctrl-Z.
func isStopped(pid int) bool {
	c, ok := procfs.Of(pid)
	return ok && c.State == 'T'
}

// waitedFor is the children of which this program holds a pidfd: os.Process
// does, so somebody else waits for these.
func waitedFor() map[int]bool {
	pids := map[int]bool{}
	names, _ := filepath.Glob("/proc/self/fdinfo/*")
	for _, name := range names {
		info, _ := os.ReadFile(name)
		for line := range strings.Lines(string(info)) {
			if pid, ok := strings.CutPrefix(line, "Pid:"); ok {
				if n, err := strconv.Atoi(strings.TrimSpace(pid)); err == nil {
					pids[n] = true
				}
			}
		}
	}
	return pids
}

// holds says whether the process has one of these pipes open. If this
// process may not see the other's descriptors, it says no.
func holds(pid int, pipes map[string]bool) bool {
	dir := "/proc/" + strconv.Itoa(pid) + "/fd"
	fds, _ := os.ReadDir(dir)
	for _, fd := range fds {
		if to, err := os.Readlink(dir + "/" + fd.Name()); err == nil && pipes[to] {
			return true
		}
	}
	return false
}

// nameOf is a pipe as /proc/<pid>/fd names it; "" if it is closed.
func nameOf(pipe *os.File) string {
	raw, err := pipe.SyscallConn()
	if err != nil {
		return ""
	}
	var stat unix.Stat_t
	failed := raw.Control(func(fd uintptr) { err = unix.Fstat(int(fd), &stat) })
	if failed != nil || err != nil {
		return ""
	}
	return "pipe:[" + strconv.FormatUint(stat.Ino, 10) + "]"
}
