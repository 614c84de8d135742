//go:build unix

package main

import (
	"bufio"
	"bytes"
	"os/exec"
	"syscall"
	"testing"
)

// SIGQUIT ends every verb without a word, and by nothing that Go's runtime says.
func TestQuitEndsTheToolQuietly(t *testing.T) {
	cmd := exec.Command("outlast", "demo-server")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdin, err := cmd.StdinPipe() // as long as it is open, it runs
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(stdout).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGQUIT); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 131 || stderr.Len() > 0 {
		t.Errorf("exit code %d, %q", code, &stderr)
	}
}
