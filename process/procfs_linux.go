package process

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// proc is what /proc/<pid>/stat says of a process.
type proc struct {
	pid, parent, group int
	state              byte  // Z: ended, and not waited for
	started            int64 // in ticks after the system's start
}

// ticksPerSecond is USER_HZ, in which Linux counts in /proc on every machine.
const ticksPerSecond = 100

// ticksNow is the present in the unit of proc.started.
func ticksNow() int64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &t) != nil {
		return 0
	}
	return t.Nano() / int64(time.Second/ticksPerSecond)
}

func (c proc) runs() bool { return c.state != 'Z' && c.state != 'X' }

// processes is all that /proc shows; nothing where there is no /proc.
func processes() []proc {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var all []proc
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			if c, ok := lookAt(pid); ok {
				all = append(all, c)
			}
		}
	}
	return all
}

func lookAt(pid int) (proc, bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return proc{}, false // it has ended meanwhile
	}
	return parseStat(pid, stat)
}

// parseStat reads "pid (name) state ppid pgrp … starttime …", where starttime
// is the 22nd field. The name may hold anything, so the fields are counted from
// its last parenthesis.
func parseStat(pid int, stat []byte) (c proc, ok bool) {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 20 {
		return proc{}, false
	}
	c = proc{pid: pid, state: fields[0][0]}
	var err [3]error
	c.parent, err[0] = strconv.Atoi(string(fields[1]))
	c.group, err[1] = strconv.Atoi(string(fields[2]))
	c.started, err[2] = strconv.ParseInt(string(fields[19]), 10, 64)
	return c, err == [3]error{}
}

// isStopped says whether the process is stopped, as by Ctrl-Z.
func isStopped(pid int) bool {
	c, ok := lookAt(pid)
	return ok && c.state == 'T'
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
