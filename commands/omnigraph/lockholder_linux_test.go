package omnigraph

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience is when a test of a real process gives up. No speed is asserted.
const patience = 60 * time.Second

// The lines are Linux 6.18's; the second file is on a device whose minor number
// takes more than eight bits.
func TestParseLocks(t *testing.T) {
	const text = `1: FLOCK  ADVISORY  WRITE 11336 fe:00:9977859 0 EOF
1: -> FLOCK  ADVISORY  WRITE 11378 fe:00:9977859 0 EOF
2: POSIX  ADVISORY  WRITE 1100 fe:00:9977859 0 EOF
3: FLOCK  ADVISORY  READ 12 fe:01:9977859 0 EOF
4: FLOCK  ADVISORY  READ 13 103:12345:7 0 EOF
5: FLOCK  ADVISORY  WRITE 0 fe:00:8 0 EOF
6: FLOCK  ADVISORY
`
	for _, c := range []struct {
		dev, ino uint64
		want     []int
	}{
		{0xfe00, 9977859, []int{11336}},
		{0xfe01, 9977859, []int{12}},
		{0x103<<8 | 0x12345&0xff | (0x12345&^0xff)<<12, 7, []int{13}},
		{0xfe00, 8, nil},
		{0xfe00, 9, nil},
	} {
		if got := parseLocks(text, c.dev, c.ino); !slices.Equal(got, c.want) {
			t.Errorf("%#x:%d: %v, want %v", c.dev, c.ino, got, c.want)
		}
	}
}

// TestChildLocks is no test, but what others run as a child: it locks, says how
// that went, and holds the lock until its input ends.
func TestChildLocks(t *testing.T) {
	paths := []string{os.Getenv("OUTLAST_TEST_LOCK")}
	if store := os.Getenv("OUTLAST_TEST_STORE"); store != "" {
		paths = LockPaths(Invocation{Write: true, Store: store})
	}
	if paths[0] == "" {
		t.Skip("only as a child")
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	held, err := Lock(ctx, paths, func(h Holder) { fmt.Printf("told %v, above %v\n", h, h.Above) })
	if err != nil {
		t.Fatal(err)
	}
	if program := os.Getenv("OUTLAST_TEST_CHILD"); program != "" {
		child := exec.Command("sh", "-c", program)
		child.ExtraFiles = held.Files()
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
	}
	fmt.Printf("locked, here %v\n", len(held.Files()) > 0)
	io.Copy(io.Discard, os.Stdin)
	if err := held.Release(); err != nil {
		t.Error(err)
	}
}

// family is processes that begin with one of Python's, which can run the child
// above as sys.argv[2:] and has the lock's path in sys.argv[1].
type family struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    io.Closer
	lines *bufio.Scanner
}

func startFamily(t *testing.T, path, program string, env ...string) *family {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := python(t, "import fcntl, os, subprocess, sys, time\npath, child = sys.argv[1], sys.argv[2:]\n"+
		"def hold():\n    f = open(path, 'w')\n    fcntl.flock(f.fileno(), fcntl.LOCK_EX)\n    return f\n"+program,
		path, self, "-test.run=^TestChildLocks$")
	cmd.Env = append(os.Environ(), append(env, "OUTLAST_TEST_LOCK="+path)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, lines := talking(t, cmd)
	timer := time.AfterFunc(patience, func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	t.Cleanup(func() {
		timer.Stop()
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		cmd.Wait()
	})
	return &family{t: t, cmd: cmd, in: in, lines: lines}
}

// says reads the next line, without what the testing package adds.
func (f *family) says(want string) {
	f.t.Helper()
	for f.lines.Scan() {
		line := f.lines.Text()
		if line == "PASS" || strings.HasPrefix(line, "coverage:") {
			continue
		}
		if !strings.Contains(line, want) {
			f.t.Fatalf("%q, want %q", line, want)
		}
		return
	}
	f.t.Fatalf("nothing more is said, want %q", want)
}

// pid reads a line with one.
func (f *family) pid() (pid int) {
	f.t.Helper()
	if !f.lines.Scan() {
		f.t.Fatal("no process id is said")
	}
	if _, err := fmt.Sscan(f.lines.Text(), &pid); err != nil {
		f.t.Fatal(err)
	}
	return pid
}

func (f *family) ends() {
	f.t.Helper()
	f.in.Close()
	if err := f.cmd.Wait(); err != nil {
		f.t.Error(err)
	}
}

// An ancestor that holds the lock waits for this process, which goes on without it,
// however it came by the lock.
func TestWhatAProcessAboveHoldsIsNotTaken(t *testing.T) {
	for name, program := range map[string]string{
		"the parent": `
f = hold()
sys.exit(subprocess.call(child))`,
		"further up": `
f = hold()
sys.exit(subprocess.call(["sh", "-c", '"$@"; exit $?', "sh"] + child))`,
		"the parent, for reading": `
f = open(path, 'w')
fcntl.flock(f.fileno(), fcntl.LOCK_SH)
sys.exit(subprocess.call(child))`,
		"what became this process": `
f = hold()
os.set_inheritable(f.fileno(), True)
os.execv(child[0], child)`,
		// The one that took it, which /proc/locks names, is gone.
		"a parent that inherited it": `
f = hold()
if os.fork():
    os._exit(0)
while os.getppid() == taker:
    time.sleep(0.01)
subprocess.call(child)`,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "g.omni.lock")
			f := startFamily(t, path, "taker = os.getpid()"+program)
			f.says("above true")
			f.says("locked, here false")
			f.in.Close()
			for f.lines.Scan() { // until all of them are gone
			}
			if err := f.cmd.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
}

// Another call of this process that has the same store by another name is no
// process above it.
func TestALockOfOursIsWaitedFor(t *testing.T) {
	dir := t.TempDir()
	path, other := filepath.Join(dir, "g.lock"), filepath.Join(dir, "link.lock")
	release := lock(t, path)
	defer release()
	if err := os.Symlink(path, other); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if held, err := Lock(ctx, []string{other}, nil); err == nil {
		t.Errorf("%+v", held)
	}
}

// Another user's files cannot be looked at, but the kernel's list can: as when a
// service drops its rights for what it runs.
func TestWhatAnotherUserAboveHoldsIsNotTaken(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can become another user")
	}
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil { // which is this user's alone
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self) // where it is, others may not look
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "program"), program, 0o755); err != nil {
		t.Fatal(err)
	}
	f := startFamily(t, filepath.Join(dir, "g.omni.lock"), `
f = hold()
child[0] = os.path.dirname(path) + "/program"
sys.exit(subprocess.call(child, user=65534, group=65534, extra_groups=[], cwd="/"))`)
	f.says("above true")
	f.says("locked, here false")
	f.ends()
}

// The process above took the lock, and /proc/locks still names it, but it is
// another one that holds it now and that will give it up in any case.
func TestWhatAProcessAboveHeldOnceIsWaitedFor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g.omni.lock")
	f := startFamily(t, path, `
r, w = os.pipe()
f = hold()
holder = os.fork()
if holder == 0:
    os.close(w)
    os.read(r, 1)
    os._exit(0)
f.close()
os.close(r)
print(holder, flush=True)
p = subprocess.Popen(child, stdout=subprocess.PIPE, text=True)
print(p.stdout.readline(), end="", flush=True)
os.close(w)
os.waitpid(holder, 0)
print(p.stdout.readline(), end="", flush=True)
sys.exit(p.wait())`)
	holder := f.pid()
	f.says(fmt.Sprintf("(process %d), above false", holder))
	f.says("locked, here true")
	f.ends()
}

func TestTheHolderIsNamedOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g.omni.lock")
	f := startFamily(t, path, "f = hold()\nprint(os.getpid(), flush=True)\nsys.stdin.read()")
	pid := f.pid()
	told := make(chan Holder, 2)
	got := make(chan error, 1)
	go func() {
		held, err := Lock(t.Context(), []string{path}, func(h Holder) { told <- h })
		if err == nil {
			err = held.Release()
		}
		got <- err
	}()
	if h := <-told; h.PID != pid || !strings.HasPrefix(h.Name, "python3") || h.Above {
		t.Errorf("told of %+v, not of %d", h, pid)
	}
	f.ends()
	if err := <-got; err != nil {
		t.Error(err)
	}
	if len(told) > 0 {
		t.Error("told twice")
	}
}

// If the holder is killed while a child writes, the store stays locked until the child
// ends.
func TestAChildKeepsTheLockOfOneThatWasKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g.omni.lock")
	gate := filepath.Join(t.TempDir(), "gate")
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	f := startFamily(t, path, "os.execv(child[0], child)", "OUTLAST_TEST_CHILD=exec cat '"+gate+"' >/dev/null")
	f.says("locked, here true")
	if err := f.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	f.cmd.Process.Wait()
	if free(t, path) {
		t.Error("the lock is free while the child runs")
	}
	child, err := os.OpenFile(gate, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if h := holderOf(open(t, path)); h.Name != "cat" {
		t.Errorf("the holder is %v", h)
	}
	child.Close()
	lock(t, path)()
}

// What a child left behind has inherited the file too, and does not keep a lock
// that was given up.
func TestWhatIsLeftBehindDoesNotKeepTheLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g.omni.lock")
	held, err := Lock(t.Context(), []string{path}, nil)
	if err != nil {
		t.Fatal(err)
	}
	daemon := exec.Command("sleep", "600")
	daemon.ExtraFiles = held.Files()
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	defer daemon.Wait()
	defer daemon.Process.Kill()
	if free(t, path) {
		t.Error("it is not even locked")
	}
	if err := held.Release(); err != nil {
		t.Error(err)
	}
	if !free(t, path) {
		t.Error("it is still locked")
	}
}

func open(t *testing.T, path string) *os.File {
	t.Helper()
	file, err := openLock(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return file
}

func free(t *testing.T, path string) bool {
	t.Helper()
	file := open(t, path)
	ok, err := tryFlock(file)
	if err != nil {
		t.Fatal(err)
	}
	if ok {
		unflock(file)
	}
	return ok
}
