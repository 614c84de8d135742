package process

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

func init() {
	children["deny"] = deny
	children["readTwice"] = readTwice
}

// deny ERRNO NUMBER,NUMBER COMMAND…: runs the command in a sandbox in which these
// system calls fail with that error.
func deny(args []string) {
	filter := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}}
	for _, nr := range strings.Split(args[1], ",") {
		filter = append(filter,
			unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: uint32(number(nr)), Jf: 1},
			unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(number(args[0]))})
	}
	filter = append(filter, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW})
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	runtime.LockOSThread()
	must(unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
	if _, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&program))); e != 0 {
		fmt.Println("no seccomp:", e)
		os.Exit(97)
	}
	must(os.Setenv(childEnv, os.Getenv("THEN")))
	must(unix.Exec(args[2], args[2:], os.Environ()))
}

// readTwice: two attempts read all of stdin, the first fails
func readTwice([]string) {
	s, err := NewStdin(os.Stdin, Replay)
	must(err)
	for range 2 {
		c := &Command{Argv: []string{"cat"}, Stdin: s, Stdout: os.Stdout}
		e, err := c.Attempt(context.Background())
		must(err)
		must(e.Commit())
	}
}

// Each attempt gets all of its input, and none hangs, in a sandbox that lacks
// what looks into pipes.
func TestInputWithoutTeeOrSplice(t *testing.T) {
	input := strings.Repeat("0123456789abcde\n", 20_000) // more than a pipe holds
	for _, lacks := range [][]int{{}, {unix.SYS_SPLICE}, {unix.SYS_TEE}, {unix.SYS_TEE, unix.SYS_SPLICE}} {
		for _, errno := range []unix.Errno{unix.ENOSYS, unix.EPERM, unix.EACCES} {
			numbers := "100000"
			for _, nr := range lacks {
				numbers += "," + strconv.Itoa(nr)
			}
			t.Run(numbers+" "+errno.Error(), func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				self, err := os.Executable()
				if err != nil {
					t.Fatal(err)
				}
				cmd := exec.CommandContext(ctx, self, strconv.Itoa(int(errno)), numbers, self)
				cmd.Env = append(os.Environ(), childEnv+"=deny", "THEN=readTwice", "GORACE=atexit_sleep_ms=0")
				cmd.Stdin = io.MultiReader(strings.NewReader(input)) // through a pipe
				out, err := cmd.CombinedOutput()
				if cmd.ProcessState.ExitCode() == 97 {
					t.Skip(string(out))
				}
				if err != nil || string(out) != input+input {
					t.Errorf("%v, %d bytes of %d, the last %q", err, len(out), 2*len(input), out[max(0, len(out)-100):])
				}
			})
		}
	}
}
