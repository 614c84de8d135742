package main

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"outlast/internal/cgrouptest"
)

// TestRidesOutWithin64MiB has a command ride out an outage, or wait in vain, within a
// real control group that has the memory of a small container, the child included.
func TestRidesOutWithin64MiB(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	const limit = 64 << 20
	cgrouptest.New(t, limit) // skips before anything is built
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("curl is not here")
	}
	tool := goBuild(t, filepath.Join(t.TempDir(), "outlast"), ".")
	links := t.TempDir()
	if err := os.Symlink(tool, filepath.Join(links, "curl")); err != nil {
		t.Fatal(err)
	}
	for name, argv := range map[string][]string{
		"run": {tool, "run", "--", curl}, "link": {filepath.Join(links, "curl")},
	} {
		for outage, exit := range map[string]int{"for good": 7, "for 3 s": 0} {
			t.Run(name+", away "+outage, func(t *testing.T) {
				t.Parallel()
				address := awayFor(t, 3*time.Second, exit == 0)
				cmd := exec.CommandContext(t.Context(), argv[0], append(argv[1:], "-fsS", "http://"+address+"/")...)
				cmd.Env = append(os.Environ(), "OUTLAST_MAX_WAIT=7s", "NO_PROXY=*", "PATH="+links+":"+os.Getenv("PATH"))
				group := cgrouptest.New(t, limit)
				group.Start(cmd)
				out, _ := cmd.CombinedOutput()
				if cmd.ProcessState.ExitCode() != exit || strings.Contains(string(out), "here") != (exit == 0) {
					t.Errorf("%v\n%s", cmd.ProcessState, out)
				}
				t.Logf("%d MiB at the peak", group.Peak(t)>>20)
			})
		}
	}
}

// awayFor is the address of a server that is away, and comes back if it is told to.
func awayFor(t *testing.T, outage time.Duration, back bool) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	if back {
		server := &http.Server{Addr: address, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "here") })}
		starts := time.AfterFunc(outage, func() {
			if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
				t.Error(err)
			}
		})
		t.Cleanup(func() { starts.Stop(); server.Close() })
	}
	return address
}

// TestWaitingCommandsAreSmall bounds what each of a number of waiting commands takes
// of the machine's memory, and what is its own alone.
func TestWaitingCommandsAreSmall(t *testing.T) {
	if testing.Short() {
		t.Skip("twenty processes")
	}
	const commands, most, mostOwn = 20, 12 << 10, 8 << 10 // in KiB
	dir := t.TempDir()
	tool := goBuild(t, filepath.Join(dir, "outlast"), ".")
	address := awayFor(t, 0, false)
	var running []*exec.Cmd
	for i := range commands {
		events := filepath.Join(dir, fmt.Sprint("events", i))
		cmd := exec.CommandContext(t.Context(), tool, "run", "-q", "--events", events, "--retry-exit", "7", "--attempts", "2", "--backoff", "5m",
			"--read", "--ready", "tcp://"+address, "--", "sh", "-c", "exit 7")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
		running = append(running, cmd)
		for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			if text, _ := os.ReadFile(events); strings.Contains(string(text), `"event":"waiting"`) {
				break
			} else if time.Now().After(deadline) {
				t.Fatalf("command %d does not wait: %s", i, text)
			}
		}
	}
	all, own := 0, 0
	for _, cmd := range running {
		pss, anonymous := memoryOf(t, cmd.Process.Pid)
		all, own = all+pss, max(own, anonymous)
	}
	t.Logf("of %d waiting commands each has %.1f MiB (PSS), of which at most %.1f MiB are its own", commands, float64(all)/commands/1024, float64(own)/1024)
	if all/commands > most || own > mostOwn {
		t.Errorf("%d KiB each, %d of its own; want at most %d and %d", all/commands, own, most, mostOwn)
	}
}

// memoryOf is a process's share of the memory that it maps, and what no file is behind
// of that, in KiB.
func memoryOf(t *testing.T, pid int) (pss, anonymous int) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		t.Skip(err)
	}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		n, _ := strconv.Atoi(f[1])
		switch f[0] {
		case "Pss:":
			pss = n
		case "Anonymous:":
			anonymous = n
		}
	}
	if pss == 0 || anonymous == 0 {
		t.Fatalf("%s", text)
	}
	return pss, anonymous
}
