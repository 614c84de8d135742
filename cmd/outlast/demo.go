package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"outlast/cmd/outlast/internal/exit"
	"outlast/internal/standin"
)

type demoVerb struct {
	Outage  time.Duration `default:"4s" placeholder:"DURATION" help:"How long the server is away (default: ${default})."`
	Loading time.Duration `default:"2s" placeholder:"DURATION" help:"How long it then loads its graphs (default: ${default})."`
}

// Run plays a restart as omnigraph's server has it: it is away, then it listens
// and loads its graphs, then it is ready. The plugin drives, as it does in hosts of
// other languages. The command and the server stand in for
// omnigraph's; processes, connections and what they print are real.
func (v *demoVerb) Run(ctx context.Context) error {
	for name, d := range map[string]time.Duration{"outage": v.Outage, "loading": v.Loading} {
		if d <= 0 || d > 2*time.Minute {
			return exit.Usage("--%s: expected a duration of at most 2m, not %v", name, d)
		}
	}
	d := &demo{start: time.Now()}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	defer d.close()
	if err := d.prepare(); err != nil {
		return err
	}
	return d.play(ctx, v.Outage, v.Loading)
}

type demo struct {
	start   time.Time
	self    string
	dir     string // for the command's name and the ledger
	address string
	mu      sync.Mutex // of what is printed, and of server
	server  *exec.Cmd
}

// prepare makes a folder in which this program is called omnigraph.
func (d *demo) prepare() (err error) {
	if d.self, err = os.Executable(); err != nil {
		return err
	}
	if d.dir, err = os.MkdirTemp("", "outlast-demo-"); err != nil {
		return err
	}
	if err := os.Symlink(d.self, filepath.Join(d.dir, "omnigraph")); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	d.address = listener.Addr().String()
	return listener.Close()
}

func (d *demo) play(ctx context.Context, outage, loading time.Duration) error {
	if err := d.startServer(ctx, 0); err != nil {
		return err
	}
	d.tell("with --drive plugin the WebAssembly plugin has the loop, as it may in any language:")
	if err := d.wrapped(ctx, "mutate", "add", "--params", "Ada"); err != nil {
		return fmt.Errorf("demo: the command failed before the outage: %w", err)
	}
	d.stopServer()
	d.tell("the server is gone, for %v; a write is made all the same:", outage)
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
		err := d.startServer(ctx, loading)
		restarted <- restart{time.Now(), err}
	}()
	err := d.wrapped(ctx, "mutate", "add", "--params", "Grace")
	ended := time.Now()
	back := <-restarted
	if err = errors.Join(err, back.err); err != nil {
		return fmt.Errorf("demo: the command did not outlast the outage: %w", err)
	}
	d.tell("the write has its answer, %v after the server was ready; applied, each once:", max(0, ended.Sub(back.at)).Round(10*time.Millisecond))
	return d.wrapped(ctx, "query", "everybody")
}

// wrapped runs the command as a user would.
func (d *demo) wrapped(ctx context.Context, call ...string) error {
	args := append(append([]string{"run", "--drive", "plugin", "--", "omnigraph"}, call...), "--server", "http://"+d.address, "--graph", "people")
	d.tell("$ outlast %s", strings.Join(args, " "))
	cmd := exec.CommandContext(ctx, d.self, args...)
	cmd.Env = append(os.Environ(), "PATH="+d.dir+string(os.PathListSeparator)+os.Getenv("PATH"), demoVar+"=1", "NO_PROXY=*", "no_proxy=*")
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

// startServer starts the server process and waits until it is ready.
func (d *demo) startServer(ctx context.Context, loading time.Duration) error {
	cmd := exec.CommandContext(ctx, d.self, "demo-server", "--", "-bind", d.address, "-ledger", filepath.Join(d.dir, "ledger"), "-loading", loading.String())
	cmd.Stderr = os.Stderr
	if _, err := cmd.StdinPipe(); err != nil { // closed when this process ends, however that is
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	d.mu.Lock()
	d.server = cmd
	d.mu.Unlock()
	for said := bufio.NewScanner(out); said.Scan(); {
		if strings.HasPrefix(said.Text(), "OMNIGRAPH_LISTEN_ADDR") && loading > 0 {
			d.tell("the server listens, and loads its graphs for %v: it answers 503", loading)
		}
		if strings.HasPrefix(said.Text(), "READY") {
			d.tell("the server is ready at http://%s", d.address)
			return nil
		}
	}
	return fmt.Errorf("the server at %s did not start", d.address)
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

func (d *demo) close() {
	d.stopServer()
	if d.dir != "" {
		os.RemoveAll(d.dir)
	}
}

type demoServerVerb struct {
	Args []string `arg:"" optional:"" passthrough:"" help:"The server's own arguments."`
}

// Run serves until it is stopped or its standard input ends.
func (v *demoServerVerb) Run() error {
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0) // the demo is over
	}()
	args := v.Args
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	return &exit.Error{Code: standin.ServerMain(args, stdout, os.Stderr)}
}

// demoVar says that this process belongs to a demo, where the tool's link named
// omnigraph is the demo's command.
const demoVar = "OUTLAST_DEMO"

// demoCommand is the command of a demo, if that is what this process is.
func demoCommand(argv []string) (code int, is bool) {
	if os.Getenv(demoVar) == "" || len(argv) == 0 || filepath.Base(argv[0]) != "omnigraph" {
		return 0, false
	}
	return standin.Main(argv[1:], stdout, os.Stderr), true
}
