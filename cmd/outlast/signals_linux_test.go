package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// starterEnv makes this test binary one that starts a command with a signal as it
// says: "ignored 15", "blocked 15", "default 15".
const starterEnv = "OUTLAST_TEST_STARTER"

func init() {
	if how := os.Getenv(starterEnv); how != "" {
		startWithSignal(how, os.Args[1:])
	}
}

func startWithSignal(how string, argv []string) {
	var disposition string
	var s int
	if _, err := fmt.Sscan(how, &disposition, &s); err != nil {
		panic(err)
	}
	runtime.LockOSThread()
	var action [4]uint64 // SIG_DFL
	switch disposition {
	case "ignored":
		action[0] = 1
	case "blocked":
		var set unix.Sigset_t
		*(*uint64)(unsafe.Pointer(&set)) = 1 << (s - 1)
		if err := unix.PthreadSigmask(unix.SIG_BLOCK, &set, nil); err != nil {
			panic(err)
		}
	}
	if _, _, e := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(s), uintptr(unsafe.Pointer(&action)), 0, 8, 0, 0); e != 0 {
		panic(e)
	}
	panic(unix.Exec(argv[0], argv, slices.DeleteFunc(os.Environ(), func(e string) bool { return strings.HasPrefix(e, starterEnv) })))
}

// What Go keeps for itself: where these were ignored, a command gets the default.
var goKeeps = []syscall.Signal{
	unix.SIGSEGV, unix.SIGBUS, unix.SIGFPE, unix.SIGILL, unix.SIGTRAP, unix.SIGSYS, unix.SIGCHLD, unix.SIGURG,
}

// apart are those that cannot be passed on: Go hides a PROF, dies of a STKFLT, and a
// PIPE that was sent looks like one for a write.
var apart = map[syscall.Signal][]string{
	unix.SIGPROF: {"default", "ignored"}, unix.SIGSTKFLT: {"default", "ignored", "blocked"}, unix.SIGPIPE: {"default"},
}

// fate is what a signal did: to the whole, and how the command had it before.
type fate struct {
	ended            string
	ignored, blocked bool // in the command
}

// sentTo starts a command, alone or by the tool, sends a signal to what was started,
// and lets the command end if it lives on.
func sentTo(t *testing.T, tool []string, disposition string, s syscall.Signal) (f fate) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	argv := append(slices.Clone(tool), catPath(t))
	cmd := exec.Command(self, argv...)
	cmd.Args = append([]string{self}, argv...)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d", starterEnv, disposition, s))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // without a terminal
	stdin, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	var status string
	for end := time.Now().Add(20 * time.Second); !strings.HasPrefix(status, "Name:\tcat\n") && time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		status = statusOf(cmd.Process.Pid, len(tool) > 0)
	}
	time.Sleep(50 * time.Millisecond) // what is caught late is caught
	f.ignored, f.blocked = hasSignal(status, "SigIgn", s), hasSignal(status, "SigBlk", s)
	if err := cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
	time.Sleep(150 * time.Millisecond)
	stdin.Close()
	over := time.AfterFunc(20*time.Second, func() { cmd.Process.Kill() })
	_ = cmd.Wait()
	over.Stop()
	w := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if f.ended = fmt.Sprintf("exit code %d", w.ExitStatus()); w.Signaled() {
		f.ended = "by " + unix.SignalName(w.Signal())
	}
	return f
}

func catPath(t *testing.T) string {
	path, err := exec.LookPath("cat")
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil || filepath.Base(path) != "cat" {
		t.Skip("no cat of its own here: ", path, err)
	}
	return path
}

// statusOf is /proc/<pid>/status of the process, or of its only child.
func statusOf(pid int, child bool) string {
	of := fmt.Sprint(pid)
	if child {
		of = ""
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
		for _, task := range tasks {
			children, _ := os.ReadFile(task)
			of += strings.TrimSpace(string(children))
		}
	}
	status, _ := os.ReadFile("/proc/" + of + "/status")
	return string(status)
}

func hasSignal(status, set string, s syscall.Signal) bool {
	_, rest, _ := strings.Cut(status, "\n"+set+":\t")
	var bits uint64
	fmt.Sscanf(rest, "%x", &bits)
	return bits>>(s-1)&1 == 1
}

// Every signal, ignored, blocked and as it comes, does with the tool what it does
// without. Left out: KILL and STOP, which nobody can pass on; the stop signals of a
// terminal, which have tests of their own; the C library's 32 to 34.
func TestSignalsAsWithoutTheTool(t *testing.T) {
	if testing.Short() {
		t.Skip("every signal three times, beside the bare command")
	}
	trimmed := goBuild(t, filepath.Join(t.TempDir(), "outlast"), ".")
	if out, err := exec.Command("go", "run", "outlast/process/atstart/trim", trimmed).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	tool := []string{trimmed, "run", "--attempts", "1", "--repeatable", "--"}
	left := []syscall.Signal{unix.SIGKILL, unix.SIGSTOP, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU, 32, 33, 34}
	var wait sync.WaitGroup
	room := make(chan bool, 6)
	for s := syscall.Signal(1); s <= 64; s++ {
		if slices.Contains(left, s) {
			continue
		}
		for _, disposition := range []string{"default", "ignored", "blocked"} {
			wait.Go(func() {
				room <- true
				defer func() { <-room }()
				if slices.Contains(apart[s], disposition) || slices.Contains(goKeeps, s) && disposition == "ignored" {
					return
				}
				bare, ours := sentTo(t, nil, disposition, s), sentTo(t, tool, disposition, s)
				if bare != ours {
					t.Errorf("%d %s, %s: %+v without the tool, %+v with it", s, unix.SignalName(s), disposition, bare, ours)
				}
			})
		}
	}
	wait.Wait()
}
