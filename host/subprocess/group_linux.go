package subprocess

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// groupAlive says whether a process of the group still runs. One that is dead
// but that nobody has waited for does not count: where process 1 reaps no
// orphans, as in many containers, it stays for ever.
func groupAlive(pgid int) bool {
	if syscall.Kill(-pgid, 0) != nil {
		return false
	}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(stats) == 0 {
		return true
	}
	for _, name := range stats {
		if stat, err := os.ReadFile(name); err == nil && runsInGroup(stat, pgid) {
			return true
		}
	}
	return false
}

// runsInGroup reads /proc/<pid>/stat: pid (name) state ppid pgrp … The name
// may hold anything, so the fields are counted from its last parenthesis.
func runsInGroup(stat []byte, pgid int) bool {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 3 {
		return false
	}
	state, group := fields[0][0], string(fields[2])
	return group == strconv.Itoa(pgid) && state != 'Z' && state != 'X'
}
