package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"
)

type demoVerb struct {
	Outage time.Duration `default:"4s" placeholder:"DURATION" help:"How long the server is away (default: ${default})."`
}

// Run starts a real server, takes it away, and wraps a real client that then
// meets refused connections, while the server comes back after the outage.
func (v *demoVerb) Run(ctx context.Context) error {
	if v.Outage <= 0 || v.Outage > 2*time.Minute {
		return usageError("--outage: expected a duration of at most 2m, not %v", v.Outage)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	d := &demo{self: self, start: time.Now()}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	defer d.stopServer()
	return d.play(ctx, v.Outage)
}

type demo struct {
	self   string
	start  time.Time
	mu     sync.Mutex // of what is printed, and of server
	server *exec.Cmd
}

func (d *demo) play(ctx context.Context, outage time.Duration) error {
	addr, err := d.startServer(ctx, "127.0.0.1:0")
	if err != nil {
		return err
	}
	url := "http://" + addr
	d.tell("a server listens at %s", url)
	if err := d.wrapped(ctx, url); err != nil {
		return fmt.Errorf("demo: the client failed before the outage: %w", err)
	}
	d.stopServer()
	d.tell("the server is gone, for %v; the client is started all the same:", outage)
	type restart struct {
		at  time.Time
		err error
	}
	restarted := make(chan restart, 1)
	go func() {
		select {
		case <-time.After(outage):
		case <-ctx.Done():
		}
		_, err := d.startServer(ctx, addr)
		if err == nil {
			d.tell("the server is back")
		}
		restarted <- restart{time.Now(), err}
	}()
	err = d.wrapped(ctx, url)
	ended := time.Now()
	back := <-restarted
	if err = errors.Join(err, back.err); err != nil {
		return fmt.Errorf("demo: the client did not outlast the outage: %w", err)
	}
	d.tell("the client has its answer, %v after the server came back", ended.Sub(back.at).Round(10*time.Millisecond))
	return nil
}

// wrapped runs the client as a user would.
func (d *demo) wrapped(ctx context.Context, url string) error {
	args := []string{"run", "--policy", "omnigraph", "--remote", "--read", "--ready", strings.Replace(url, "http", "tcp", 1), "--", d.self, "demo-client", url}
	d.tell("$ outlast %s", strings.Replace(strings.Join(args, " "), d.self, "outlast", 1))
	cmd := exec.CommandContext(ctx, d.self, args...)
	out := &lines{tell: d.tell}
	cmd.Stdout, cmd.Stderr = out, out
	return cmd.Run()
}

func (d *demo) tell(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	fmt.Fprintf(stdout, "%6.2f s  %s\n", time.Since(d.start).Seconds(), fmt.Sprintf(format, args...))
}

// lines tells whole lines as they come.
type lines struct {
	tell func(string, ...any)
	rest string
}

func (l *lines) Write(p []byte) (int, error) {
	l.rest += string(p)
	for {
		line, after, found := strings.Cut(l.rest, "\n")
		if !found {
			return len(p), nil
		}
		l.tell("  %s", line)
		l.rest = after
	}
}

// startServer starts the server process and waits until it listens.
func (d *demo) startServer(ctx context.Context, listen string) (addr string, err error) {
	cmd := exec.CommandContext(ctx, d.self, "demo-server", listen)
	cmd.Stderr = os.Stderr
	if _, err := cmd.StdinPipe(); err != nil { // closed when we end, however that is
		return "", err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	d.mu.Lock()
	d.server = cmd
	d.mu.Unlock()
	addr, err = bufio.NewReader(out).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	if addr == "" {
		return "", fmt.Errorf("the server at %s did not start", listen)
	}
	return strings.TrimSpace(addr), nil
}

func (d *demo) stopServer() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.server != nil {
		d.server.Process.Kill()
		d.server.Wait()
		d.server = nil
	}
}
