package omnigraph

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"outlast/process/procfs"
)

// The kernel has two places that tell of a lock. /proc/locks names the process
// that took it, which may be gone while a child that inherited the file keeps
// the lock; and the inode by a device number that is not always stat's.
// /proc/<pid>/fdinfo tells it of each open file, exactly, but only of processes
// that this one may look into. So fdinfo counts where it can be read.

// holderOf names a process that holds the file's lock.
func holderOf(file *os.File) Holder {
	info, err := file.Stat()
	if err != nil {
		return Holder{}
	}
	pids := listedHolders(info)
	for _, other := range procfs.All() {
		pids = append(pids, other.PID)
	}
	for _, pid := range pids {
		if pid != os.Getpid() && holds(pid, info) {
			return Holder{PID: pid, Name: commandName(pid)}
		}
	}
	return Holder{}
}

// holderAbove finds an ancestor that holds the lock; or this process itself, where
// a shell took the lock and then became it.
func holderAbove(file *os.File) (Holder, bool) {
	info, err := file.Stat()
	if err != nil {
		return Holder{}, false
	}
	for pid := os.Getpid(); pid > 0; pid = parentOf(pid) {
		if holds(pid, info) {
			return Holder{PID: pid, Name: commandName(pid), Above: true}, true
		}
	}
	return Holder{}, false
}

// holds says whether a process has an open file that holds the lock on the file
// of info. Of this process's files only inherited ones count: another
// goroutine's lock is no reason to go on without one.
func holds(pid int, info os.FileInfo) bool {
	dir := "/proc/" + strconv.Itoa(pid)
	fds, err := os.ReadDir(dir + "/fdinfo")
	if errors.Is(err, fs.ErrPermission) { // another user's
		return slices.Contains(listedHolders(info), pid)
	}
	for _, fd := range fds {
		text, err := os.ReadFile(filepath.Join(dir, "fdinfo", fd.Name()))
		if err != nil || !bytes.Contains(text, []byte("\nlock:")) {
			continue // stat could hang where the file is on a dead server
		}
		if open, err := os.Stat(filepath.Join(dir, "fd", fd.Name())); err == nil && os.SameFile(open, info) && hasFlock(string(text)) &&
			(pid != os.Getpid() || wasInherited(string(text))) {
			return true
		}
	}
	return false
}

// hasFlock finds a line such as "lock:	1: FLOCK  ADVISORY  WRITE 11336 fe:00:9977859 0 EOF".
func hasFlock(fdinfo string) bool {
	for line := range strings.Lines(fdinfo) {
		fields := strings.Fields(line)
		if len(fields) > 2 && fields[0] == "lock:" && fields[2] == "FLOCK" {
			return true
		}
	}
	return false
}

// wasInherited reads a line such as "flags:	02100001", in octal. What Go
// opens is closed on exec, so that is not inherited.
func wasInherited(fdinfo string) bool {
	for line := range strings.Lines(fdinfo) {
		if text, ok := strings.CutPrefix(line, "flags:"); ok {
			flags, err := strconv.ParseUint(strings.TrimSpace(text), 8, 64)
			return err == nil && flags&syscall.O_CLOEXEC == 0
		}
	}
	return false
}

// listedHolders are the processes that /proc/locks names for the file.
func listedHolders(info os.FileInfo) []int {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	text, err := os.ReadFile("/proc/locks")
	if err != nil {
		return nil
	}
	return parseLocks(string(text), stat.Dev, stat.Ino)
}

// parseLocks reads lines such as "1: FLOCK  ADVISORY  WRITE 11336 fe:00:9977859
// 0 EOF", the device in hexadecimal. A waiter's line has "->" before FLOCK, and
// a process that cannot be seen from here is 0.
func parseLocks(text string, dev, ino uint64) []int {
	// As the kernel's new_decode_dev has it, which is what stat gives.
	major := dev >> 8 & 0xfff
	minor := dev&0xff | dev>>12&0xfff00
	var pids []int
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 6 || fields[1] != "FLOCK" {
			continue
		}
		id := strings.Split(fields[5], ":")
		if len(id) != 3 || !isNumber(id[0], 16, major) || !isNumber(id[1], 16, minor) || !isNumber(id[2], 10, ino) {
			continue
		}
		if pid, err := strconv.Atoi(fields[4]); err == nil && pid > 0 {
			pids = append(pids, pid)
		}
	}
	return pids
}

func isNumber(text string, base int, want uint64) bool {
	got, err := strconv.ParseUint(text, base, 64)
	return err == nil && got == want
}

func commandName(pid int) string {
	name, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/comm")
	return strings.TrimSuffix(string(name), "\n")
}

// parentOf is 0 for no parent, or none that can be seen.
func parentOf(pid int) int {
	process, _ := procfs.Of(pid)
	return process.Parent
}
