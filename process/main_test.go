//go:build unix

package process

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// childEnv makes this test binary one of the children below.
const childEnv = "OUTLAST_TEST_CHILD"

func TestMain(m *testing.M) {
	if role := os.Getenv(childEnv); role != "" {
		child, ok := children[role]
		if !ok {
			fmt.Fprintln(os.Stderr, "no such child:", role)
			os.Exit(99)
		}
		child(os.Args[1:])
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// command is a Command that runs one of the children.
func command(t testing.TB, role string, args ...string) *Command {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &Command{
		Argv: append([]string{self}, args...),
		Env:  append(os.Environ(), childEnv+"="+role, "GORACE=atexit_sleep_ms=0"),
	}
}

var children = map[string]func(args []string){
	// say OUT ERR CODE
	"say": func(args []string) {
		fmt.Print(args[0])
		fmt.Fprint(os.Stderr, args[1])
		os.Exit(number(args[2]))
	},
	// die SIGNAL
	"die": func(args []string) {
		fmt.Print("before the signal")
		syscall.Kill(os.Getpid(), syscall.Signal(number(args[0])))
		time.Sleep(time.Minute)
	},
	// noise BYTES CODE: random bytes on stdout
	"noise": func(args []string) {
		w := bufio.NewWriterSize(os.Stdout, 64<<10)
		io.CopyN(w, noise(), int64(number(args[0])))
		w.Flush()
		os.Exit(number(args[1]))
	},
	// progress BYTES FILE: zeros on stdout, and then the file
	"progress": func(args []string) {
		io.CopyN(os.Stdout, zeros{}, int64(number(args[0])))
		must(os.WriteFile(args[1], nil, 0o600))
	},
	// yes: output without end
	"yes": func([]string) {
		for {
			if _, err := os.Stdout.WriteString("yes\n"); err != nil {
				os.Exit(98)
			}
		}
	},
	// wait FILE TEXT: prints the text, and ends when the file is there
	"wait": func(args []string) {
		fmt.Print(args[1])
		waitForFile(args[0])
	},
	// leave: ends at once, and leaves a child that holds its output
	"leave": func(args []string) {
		grandchild("sit", args[0])
		fmt.Print("left")
	},
	// sit FILE: writes its pid to the file, ignores SIGTERM, and stays
	"sit": func(args []string) {
		signal.Ignore(syscall.SIGTERM)
		writePid(args[0])
		time.Sleep(time.Minute)
	},
	// family FILE FILE: both a child and itself ignore SIGTERM
	"family": func(args []string) {
		grandchild("sit", args[0])
		signal.Ignore(syscall.SIGTERM)
		writePid(args[1])
		time.Sleep(time.Minute)
	},
	// last FILE FILE: ends at SIGTERM, its child does not
	"last": func(args []string) {
		grandchild("sit", args[0])
		writePid(args[1])
		time.Sleep(time.Minute)
	},
	// polite FILE: says which signal it got, and ends well
	"polite": func(args []string) {
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
		writePid(args[0])
		fmt.Print("got ", <-signals)
	},
	// idle FILE FILE CODE: writes its pid to the one, and ends when the other is
	// there. Unlike a shell, which can lose a signal that comes while it starts
	// something, it is ended by any at any time.
	"idle": func(args []string) {
		fmt.Println("idle")
		writePid(args[0])
		waitForFile(args[1])
		os.Exit(number(args[2]))
	},
	// cat BYTES CODE: copies so many bytes, or all for -1, of stdin
	"cat": func(args []string) {
		if n := number(args[0]); n >= 0 {
			io.CopyN(os.Stdout, os.Stdin, int64(n))
		} else {
			io.Copy(os.Stdout, os.Stdin)
		}
		os.Exit(number(args[1]))
	},
	// env NAME
	"env": func(args []string) {
		dir, _ := os.Getwd()
		fmt.Print(os.Getenv(args[0]), "\n", dir)
	},
	// group: its process group, and its pid
	"group": func([]string) { fmt.Print(syscall.Getpgrp(), " ", os.Getpid()) },
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	must(err)
	return n
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(97)
	}
}

func writePid(file string) {
	must(os.WriteFile(file+".new", []byte(strconv.Itoa(os.Getpid())), 0o600))
	must(os.Rename(file+".new", file))
}

// grandchild starts a child of the child, with its output, and waits until it
// has written its pid.
func grandchild(role, file string) {
	self, err := os.Executable()
	must(err)
	cmd := exec.Command(self, file)
	cmd.Env = append(os.Environ(), childEnv+"="+role)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	must(cmd.Start())
	waitForFile(file)
}

func waitForFile(file string) {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(file); err == nil {
			return
		}
	}
	must(fmt.Errorf("%s does not come", file))
}

// pidIn waits for a pid that a child writes.
func pidIn(t *testing.T, file string) int {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if text, err := os.ReadFile(file); err == nil && strings.TrimSpace(string(text)) != "" {
			return number(strings.TrimSpace(string(text)))
		}
	}
	t.Fatalf("no pid in %s", file)
	return 0
}

// noise is the same bytes every time.
func noise() io.Reader { return rand.NewChaCha8([32]byte{7}) }

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// attempt runs c and commits the output, which it returns.
func attempt(t *testing.T, c *Command) (e *Ended, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	c.Stdout, c.Stderr = &out, &err
	e, failed := c.Attempt(t.Context())
	if failed != nil {
		t.Fatal(failed)
	}
	if failed := e.Commit(); failed != nil {
		t.Fatal(failed)
	}
	return e, out.String(), err.String()
}
