package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// The exit codes of a shell for a command that it cannot run.
const (
	exitCannotRun = 126 // it is there, but is no program that may be run
	exitNotFound  = 127
)

// StartError says that a command could not be started.
type StartError struct {
	Command  string
	ExitCode int // what a shell would exit with: 126 or 127
	Err      error
}

func (e *StartError) Error() string {
	return fmt.Sprintf("outlast: starting %q: %v", e.Command, e.Err)
}

func (e *StartError) Unwrap() error { return e.Err }

func noCommand() error {
	return &StartError{ExitCode: exitNotFound, Err: errors.New("no command is given")}
}

// start starts the process with its pipes, and what feeds and reads them. Its
// error is a *StartError.
func (c *Command) start() (*process, error) {
	if len(c.Argv) == 0 || c.Argv[0] == "" {
		return nil, noCommand()
	}
	p, err := c.launch()
	var start *StartError
	if err != nil && !errors.As(err, &start) {
		err = &StartError{Command: c.Argv[0], ExitCode: exitCannotRun, Err: plain(err)}
	}
	return p, err
}

func (c *Command) launch() (*process, error) {
	if err := checkDir(c.Dir); err != nil {
		return nil, err
	}
	p := newProcess(c.command(c.Argv...), !hasTerminal())

	// What the child gets is closed here once it runs, or cannot.
	var childEnds []*os.File
	defer func() {
		for _, f := range childEnds {
			f.Close()
		}
	}()
	stdout, stdoutEnd, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	childEnds = append(childEnds, stdoutEnd)
	stderr, stderrEnd, err := os.Pipe()
	if err != nil {
		stdout.Close()
		return nil, err
	}
	childEnds = append(childEnds, stderrEnd)

	p.feed, err = c.Stdin.attach(p.broken)
	if err == nil {
		p.inputs, err = c.Inputs.attach(p.broken)
	}
	if err == nil {
		err = c.exec(p, p.feed.child, stdoutEnd, stderrEnd)
	}
	if err != nil {
		p.stopFeeds()
		stdout.Close()
		stderr.Close()
		return nil, err
	}
	p.stdout = newStream("stdout", stdout, c.Stdout)
	p.stderr = newStream("stderr", stderr, c.Stderr)
	p.stderr.asks = c.Interactive
	if c.OneLog {
		p.stdout.order = &order{}
		p.stderr.order = p.stdout.order
	}
	p.run()
	return p, nil
}

func (c *Command) command(argv ...string) *exec.Cmd {
	cmd := exec.Command(argv[0], argv[1:]...)
	if runtime.GOOS != "windows" && errors.Is(cmd.Err, exec.ErrDot) {
		cmd.Err = nil // the user's PATH names the working directory, so a shell would run it
	}
	if path := withoutPath(argv[0]); path != "" {
		cmd.Path, cmd.Err = path, nil
	}
	cmd.Env, cmd.Dir = c.Env, c.Dir
	return cmd
}

// exec starts the process, by the shell if it is a script that does not say by
// what.
func (c *Command) exec(p *process, stdin, stdout, stderr *os.File) error {
	lent, back, err := c.lend(p)
	defer back()
	if err != nil {
		return err
	}
	start := func() error {
		if stdin != nil {
			p.cmd.Stdin = stdin
		}
		p.cmd.Stdout, p.cmd.Stderr = stdout, stderr
		if p.group {
			leadGroup(p.cmd)
		}
		if !lent {
			p.cmd.ExtraFiles = c.Keep
		}
		return asAtStart(p.cmd.Start)
	}
	err = start()
	if script := asScript(err, c.Dir, p.cmd.Path, c.Argv[1:]); script != nil {
		p.cmd = c.command(script...)
		err = start()
	}
	if err != nil {
		return &StartError{Command: c.Argv[0], ExitCode: shellExitCode(c.Argv[0], err), Err: plain(err)}
	}
	return nil
}

// checkDir finds a missing working directory, which else would look as if the
// program were missing.
func checkDir(dir string) error {
	if dir == "" {
		return nil
	}
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = syscall.ENOTDIR
	}
	if err != nil {
		return fmt.Errorf("working directory %q: %w", dir, plain(err))
	}
	return nil
}

// shellExitCode is 127 where there is no such command, and 126 where there is
// one that cannot be run.
func shellExitCode(name string, err error) int {
	switch {
	case errors.Is(err, exec.ErrNotFound) && onPath(name):
		return exitCannotRun
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return exitNotFound
	}
	return exitCannotRun
}

// onPath finds a file of this name, if not an executable one.
func onPath(name string) bool {
	if strings.ContainsRune(name, filepath.Separator) {
		return false
	}
	for _, dir := range folders() {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && !info.IsDir() {
			return true
		}
	}
	return false
}

// plain takes off the wrappers that repeat the operation and the name.
func plain(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	var lookup *exec.Error
	if errors.As(err, &lookup) {
		return lookup.Err
	}
	return err
}
