//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// disturb kills and stops half of the commands that shall be, at random times in
// d: every second time one that looks for others. It notes whom it stops.
func (h *herd) disturb(d time.Duration, stopped map[string]bool) {
	end := time.Now().Add(d)
	kills, stops := h.kills/2, h.stops/2
	for n := kills + stops; n > 0; n-- {
		time.Sleep(time.Duration(rand.Float64() * 2 * float64(time.Until(end)) / float64(n+1)))
		caller := h.victim()
		if caller < 0 {
			continue
		}
		process := h.callers[caller].Process // once it has ended, its number may be another's
		if kills > 0 && rand.IntN(kills+stops) < kills {
			kills--
			process.Kill()
			continue
		}
		stops--
		h.mu.Lock()
		stopped[strconv.Itoa(caller)] = true
		h.mu.Unlock()
		process.Signal(syscall.SIGSTOP)
		time.AfterFunc(time.Second+rand.N(time.Second), func() { process.Signal(syscall.SIGCONT) })
	}
	time.Sleep(time.Until(end))
}

// victim is the number of a command, or -1: a process with many calls has all of
// them due at once when it goes on.
func (h *herd) victim() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	looks := listening()
	var all, lookers []int
	for i, c := range h.callers {
		if h.over[i] || c.Path != h.tool {
			continue
		}
		all = append(all, i)
		if len(looks) > 0 && holds(c.Process.Pid, looks) {
			lookers = append(lookers, i)
		}
	}
	if len(lookers) > 0 && rand.IntN(2) > 0 {
		all = lookers
	}
	if len(all) == 0 {
		return -1
	}
	return all[rand.IntN(len(all))]
}

// listening are the sockets, as links in /proc/PID/fd, where lookers listen.
func listening() map[string]bool {
	text, _ := os.ReadFile("/proc/net/unix")
	out := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 8 && f[3] == "00010000" && strings.Contains(f[7], "/outlast") && strings.Contains(f[7], "look1-") {
			out["socket:["+f[6]+"]"] = true
		}
	}
	return out
}

func holds(pid int, sockets map[string]bool) bool {
	links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, link := range links {
		if to, _ := os.Readlink(link); sockets[to] {
			return true
		}
	}
	return false
}
