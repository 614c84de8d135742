//go:build unix

package quit

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
)

const childEnv = "QUIT_TEST_CHILD"

func TestMain(m *testing.M) {
	switch os.Getenv(childEnv) {
	case "quietly":
		Quietly()
	case "caught":
		Quietly()
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, syscall.SIGQUIT)
		Caught()
		Caught() // does nothing
		fmt.Println("ready")
		<-signals
		fmt.Println("caught")
		os.Exit(0)
	default:
		os.Exit(m.Run())
	}
	fmt.Println("ready")
	bufio.NewReader(os.Stdin).ReadString('\n')
	os.Exit(0)
}

func TestQuietly(t *testing.T) {
	for _, c := range []struct {
		role, first string
		code        int
		rest        string
	}{
		{"quietly", "", 131, ""},
		{"caught", "", 0, "caught\n"},
		{"quietly", "trap '' INT QUIT; ", 0, ""},
		{"quietly", "trap '' INT; ", 0, ""}, // this binary is stripped: it knows of INT only
	} {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("sh", "-c", c.first+`exec "$0"`, self)
		cmd.Env = append(os.Environ(), childEnv+"="+c.role)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		out := bufio.NewReader(stdout)
		if line, err := out.ReadString('\n'); line != "ready\n" {
			t.Fatal(line, err)
		}
		if err := cmd.Process.Signal(syscall.SIGQUIT); err != nil {
			t.Fatal(err)
		}
		if c.first != "" {
			fmt.Fprintln(stdin) // it goes on, and ends
		}
		rest, _ := out.ReadString('\n')
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != c.code || rest != c.rest || stderr.Len() > 0 {
			t.Errorf("%+v: exit code %d, %q, %q", c, code, rest, &stderr)
		}
	}
}
