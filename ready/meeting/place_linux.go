package meeting

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// At is the place of those who want to know what the parts say: the target as it
// is asked for, and the addresses that its name has. The boot and the network
// namespace are added: the same address may lead elsewhere from another.
func At(dir string, parts ...string) (*Place, error) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return nil, err
	}
	network, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		return nil, err
	}
	return &Place{dir: dir, name: name(append([]string{strings.TrimSpace(string(boot)), network}, parts...))}, nil
}

// name is what a place's sockets are called. A part has no line break.
func name(parts []string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\n")))
	return prefix + hex.EncodeToString(sum[:16])
}

// prefix has the protocol's version: those of another do not meet these.
const prefix = "look1-"

// Boot is the time since the machine was started, in which also a process is that
// is stopped, or a machine that sleeps.
func Boot() time.Duration {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &now) != nil {
		return 0
	}
	return time.Duration(now.Nano())
}

// Seats is how many connections a looker takes, at most a quarter of the files
// that its process may have.
func Seats() int {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return int(min(maxSeats, limit.Cur/4))
}
