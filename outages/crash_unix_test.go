//go:build unix

package outages

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The test binary is its own writer: with this in its environment it appends
// one outage after another and says so after each.
const appendTo = "OUTLAST_TEST_APPEND_TO"

func TestMain(m *testing.M) {
	if path := os.Getenv(appendTo); path != "" {
		appendForEver(path)
	}
	os.Exit(m.Run())
}

func appendForEver(path string) {
	f, err := OpenFile(path)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	first := len(mustList(path))
	for n := first; ; n++ {
		if _, err := f.Append([]Outage{nth(n)}); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(n)
	}
}

func mustList(path string) []Outage {
	list, err := Read(path)
	if err != nil && !os.IsNotExist(err) {
		fmt.Println(err)
		os.Exit(1)
	}
	return list
}

// A process that is killed at any moment leaves a whole file, with everything
// that it said was in there; the next one goes on with it.
func TestKilledAtAnyMoment(t *testing.T) {
	path := filepath.Join(t.TempDir(), "outages.json")
	said := -1
	for round := range 25 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), appendTo+"="+path)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		more := func() {
			if lines.Scan() {
				if _, err := fmt.Sscan(lines.Text(), &said); err != nil {
					t.Fatalf("round %d: the writer says %q", round, lines.Text())
				}
			}
		}
		more() // it is at work
		time.AfterFunc(time.Duration(rand.IntN(10_000))*time.Microsecond, func() { cmd.Process.Kill() })
		for before := -2; before != said; {
			before = said
			more()
		}
		cmd.Wait()
		list := mustRead(t, path)
		if len(list) < said+1 || len(list) > said+2 {
			t.Fatalf("round %d: the writer said %d, and there are %d outages", round, said+1, len(list))
		}
		for n := range list {
			if list[n].Name != fmt.Sprintf("restart %d", n) {
				t.Fatalf("round %d: outage %d is %s", round, n, list[n].Name)
			}
		}
		said = len(list) - 1
	}
	if said < 25 {
		t.Errorf("only %d outages were written: nothing was killed while it wrote", said)
	}
	if _, err := mustOpen(t, path).Append([]Outage{nth(said + 1)}); err != nil {
		t.Fatal(err)
	}
	entries, _ := os.ReadDir(filepath.Dir(path))
	if len(entries) != 2 {
		t.Errorf("left behind: %v", entries)
	}
}

// A file that may not grow, as on a disk that is full: the old content stays,
// and the outage is added once there is room.
func TestNoRoom(t *testing.T) {
	if runtime.GOOS == "linux" && os.Getuid() == 0 {
		t.Skip("a really full disk shows it, without a limit that the whole test process has")
	}
	signal.Ignore(syscall.SIGXFSZ) // writing then fails instead
	defer signal.Reset(syscall.SIGXFSZ)
	path := filepath.Join(t.TempDir(), "outages.json")
	f := mustOpen(t, path)
	if _, err := f.Append([]Outage{nth(0)}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	less := old
	less.Cur = uint64(info.Size()) + 10
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &less); err != nil {
		t.Fatal(err)
	}
	added, err := f.Append([]Outage{nth(1)})
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	if err == nil || added != 0 {
		t.Errorf("%d, %v", added, err)
	}
	if list := mustRead(t, path); len(list) != 1 {
		t.Errorf("%d outages", len(list))
	}
	if added, err := f.Append([]Outage{nth(1)}); err != nil || added != 1 || len(mustRead(t, path)) != 2 {
		t.Errorf("%d, %v", added, err)
	}
}

// A file system that is really full.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if runtime.GOOS != "linux" || os.Getuid() != 0 {
		t.Skip("mounting needs root on Linux")
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("mount: %v, %s", err, out)
	}
	defer exec.Command("umount", "-l", dir).Run()
	path := filepath.Join(dir, "outages.json")
	f := mustOpen(t, path)
	n := 0
	for ; ; n++ {
		if _, err := f.Append([]Outage{nth(n)}); err != nil {
			if !strings.Contains(err.Error(), "no space") {
				t.Fatal(err)
			}
			break
		}
		if n > 1000 {
			t.Fatal("the disk is never full")
		}
	}
	if list := mustRead(t, path); len(list) != n || n == 0 {
		t.Errorf("%d outages of %d", len(list), n)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 2 {
		t.Errorf("left behind: %v", entries)
	}
}
