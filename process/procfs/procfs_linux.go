package procfs

import (
	"bytes"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// Process is what /proc/<pid>/stat says of a process.
type Process struct {
	PID, Parent, Group int
	State              byte  // Z: ended, and not waited for
	Started            int64 // in ticks after the system's start
}

// TicksPerSecond is USER_HZ, in which Linux counts in /proc on every machine.
const TicksPerSecond = 100

// TicksNow is the present in the unit of Process.Started.
func TicksNow() int64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &t) != nil {
		return 0
	}
	return t.Nano() / int64(time.Second/TicksPerSecond)
}

// Runs says whether it has not ended.
func (c Process) Runs() bool { return c.State != 'Z' && c.State != 'X' }

// All is all that /proc shows; nothing where there is no /proc.
func All() []Process {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var all []Process
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			if c, ok := Of(pid); ok {
				all = append(all, c)
			}
		}
	}
	return all
}

// Of is one process; ok is false if there is none, or no /proc.
func Of(pid int) (c Process, ok bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return Process{}, false // it has ended meanwhile
	}
	return parse(pid, stat)
}

// parse reads "pid (name) state ppid pgrp … starttime …", where starttime
// is the 22nd field. The name may hold anything, so the fields are counted from
// its last parenthesis.
func parse(pid int, stat []byte) (c Process, ok bool) {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 20 {
		return Process{}, false
	}
	c = Process{PID: pid, State: fields[0][0]}
	var err [3]error
	c.Parent, err[0] = strconv.Atoi(string(fields[1]))
	c.Group, err[1] = strconv.Atoi(string(fields[2]))
	c.Started, err[2] = strconv.ParseInt(string(fields[19]), 10, 64)
	return c, err == [3]error{}
}
