//go:build unix

package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// fullPipe is a pipe that takes nothing more, and what is in it.
func fullPipe(t *testing.T) (read, write *os.File) {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { read.Close(); write.Close() })
	fill(write)
	return read, write
}

func fill(f *os.File) {
	_ = f.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
	for _, size := range []int{4096, 1} {
		for {
			if _, err := f.Write(make([]byte, size)); err != nil {
				break
			}
		}
	}
	_ = f.SetWriteDeadline(time.Time{})
}

// fullFifo is a named pipe whose reader takes nothing.
func fullFifo(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(path, os.O_RDWR|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	fill(file)
	return path
}

// Nobody reads what outlast tells, on whichever way. A server that is away is
// ridden out all the same, in the same time, and a signal still ends a wait.
func TestNobodyReads(t *testing.T) {
	for name, c := range map[string]struct {
		flags  func(t *testing.T) []string
		unread bool // standard error too
	}{
		"nothing is full":      {func(*testing.T) []string { return nil }, false},
		"the command's stderr": {func(*testing.T) []string { return nil }, true}, // held until the end
		"stderr":               {func(*testing.T) []string { return []string{"--verbose", "--log-format", "json"} }, true},
		"all of it": {func(t *testing.T) []string {
			return []string{"--verbose", "--events", fullFifo(t), "--report", fullFifo(t)}
		}, true},
	} {
		for _, signalled := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " ", signalled), func(t *testing.T) {
				t.Parallel()
				tellsNobody(t, c.flags(t), c.unread, signalled)
			})
		}
	}
}

func tellsNobody(t *testing.T, flags []string, unread, signalled bool) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	script := fmt.Sprintf("exec 3<>/dev/tcp/%s/%d 2>/dev/null || exit 7; echo served", "127.0.0.1", l.Addr().(*net.TCPAddr).Port)
	args := append([]string{"run", "--read", "--retry-exit", "7", "--ready", "tcp://" + address, "--max-wait", "60s"}, flags...)
	cmd := exec.Command("outlast", append(args, "--", "bash", "-c", script)...)
	var stdout bytes.Buffer
	cmd.Stdout = &stdout
	if unread {
		_, cmd.Stderr = fullPipe(t)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	over := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
	defer over.Stop()
	time.Sleep(3 * time.Second)
	began := time.Now()
	if signalled {
		cmd.Process.Signal(syscall.SIGTERM)
	} else if l, err = net.Listen("tcp", address); err != nil {
		t.Skip(err) // another has taken the port
	} else {
		defer l.Close()
	}
	err = cmd.Wait()
	took := time.Since(began)
	if signalled {
		if w := cmd.ProcessState.Sys().(syscall.WaitStatus); w.Signal() != syscall.SIGTERM && w.ExitStatus() != 143 {
			t.Errorf("%v", err)
		}
	} else if err != nil || stdout.String() != "served\n" {
		t.Errorf("%v, %q", err, &stdout)
	}
	// A second each at the exit for standard error, the events and the report.
	if took > 8*time.Second {
		t.Errorf("it took %v to end", took)
	}
}
