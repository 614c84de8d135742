package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"outlast/cmd/outlast/internal/exit"
	"outlast/cmd/outlast/internal/library"
	"outlast/cmd/outlast/internal/link"
	"outlast/cmd/outlast/internal/wrap"
	"outlast/process"
)

// exitIneffective is link's exit code where a link does not, or would not, work.
const exitIneffective = 1

type linkVerb struct {
	Name   string `arg:"" optional:"" placeholder:"NAME" help:"The command, such as omnigraph."`
	Dir    string `placeholder:"DIR" help:"The folder that the link is in. On PATH it stands before the command's."`
	Check  bool   `xor:"do" help:"Tell what a program gets that calls the command; 1 if that is not outlast."`
	Remove bool   `xor:"do" help:"Take the link away: the first one on PATH, or the one in DIR."`
}

// Help is what --help adds.
func (linkVerb) Help() string {
	return `A link to outlast that is named as a command lets every program that calls
the command ride out restarts, unchanged:

    outlast link omnigraph --dir ~/bin
    outlast link omnigraph --check
    outlast link omnigraph --remove

Under the link all arguments are the command's; settings come from OUTLAST_*
and the configuration file. outlast prints nothing and takes no
lock. OUTLAST_OFF=1 in the environment runs the command itself.`
}

// Run makes a link, checks it or removes it.
func (v *linkVerb) Run() error {
	switch {
	case v.Name == "":
		return exit.Usage("link: expected the command's name, such as omnigraph")
	case !hasPolicy(v.Name):
		return exit.Usage("link: there is no policy for %s that a link could use", v.Name)
	}
	outlast, err := link.Self()
	if err != nil {
		return exit.Unusable(err)
	}
	path := os.Getenv("PATH")
	switch {
	case v.Remove:
		removed, err := link.Remove(v.Name, v.Dir, outlast, path)
		if err == nil {
			fmt.Fprintf(stdout, "removed %s\n", removed)
		}
		return ineffective(err)
	case v.Check && v.Dir != "":
		return exit.Usage("link: --check looks at all of PATH; leave --dir out")
	case v.Check:
		if err := v.tell(link.Check(v.Name, outlast, path)); err != nil {
			return err
		}
		return ineffective(unprotected(v.Name))
	case v.Dir == "":
		return exit.Usage("link: expected the link's folder with --dir, one that is on PATH before %s's", v.Name)
	}
	return v.tell(link.Make(v.Name, v.Dir, outlast, path))
}

// tell says what a link does.
func (v *linkVerb) tell(l link.Link, err error) error {
	if err != nil {
		return ineffective(err)
	}
	fmt.Fprintf(stdout, "%s leads to %s\n", l.Path, l.Outlast)
	fmt.Fprintf(stdout, "A program that calls %s gets outlast, which runs %s.\n", v.Name, l.Command)
	fmt.Fprintf(stdout, "A shell that has called %s before may remember where it was: hash -r\n", v.Name)
	return nil
}

// ineffective is the error of a link that does not work, or that was not made.
func ineffective(err error) error {
	if err == nil {
		return nil
	}
	return &exit.Error{Code: exitIneffective, Err: fmt.Errorf("link: %w", err)}
}

// underLink runs the command that the tool was called as, by the name of a link
// to it; under is false if that was the tool's own name. A caller must find the
// command's own words only: whatever is wrong with outlast's part, the command
// runs as if there were no link.
func underLink(argv []string) (code int, under bool) {
	name, under := called(argv)
	if !under {
		return 0, false
	}
	program, env, err := behindLink(name)
	if err != nil {
		if !hasPolicy(name) {
			return 0, false // no link, but the tool by another name
		}
		return asShell(name, err), true
	}
	stderr = io.Discard
	command := append([]string{program}, argv[1:]...)
	if wrap.IsSwitchedOff(env) || wrap.IsInside(env) || !hasPolicy(name) {
		return replace(name, command, env), true
	}
	run, err := prepareUnderLink(command, env)
	if err != nil {
		return replace(name, command, env), true
	}
	defer run.Close()
	return codeUnderLink(name, run.Execute(context.Background())), true
}

func called(argv []string) (name string, under bool) {
	if len(argv) == 0 {
		return "", false
	}
	return link.Invoked(argv[0])
}

// hasPolicy says whether calls of a command can be run again without being told
// how: a link stands for no other.
func hasPolicy(name string) bool { return library.For(name) != "" }

// behindLink is the program that the link stands for, and its environment.
func behindLink(name string) (program string, env []string, err error) {
	path, set := os.LookupEnv("PATH")
	if !set {
		path = "/bin:/usr/bin" // as the C library has it
	}
	trail := link.ReadTrail(os.Getenv(link.TrailVar))
	self, _ := os.Executable() // without it, only its contents tell which file is this tool
	program, err = link.Find(name, self, path, trail)
	return program, trail.Env(os.Environ(), program), err
}

// unprotected says why, in this environment, a link runs the command once and
// retries nothing; nil if it retries.
func unprotected(name string) error {
	switch env := os.Environ(); {
	case wrap.IsSwitchedOff(env):
		return errors.New("but OUTLAST_OFF is set here: the command runs without outlast")
	case wrap.IsInside(env):
		return errors.New("but " + wrap.AttemptVar + " is set here: another outlast decides what is run again")
	}
	run, err := prepareUnderLink([]string{name}, os.Environ())
	if err != nil {
		return fmt.Errorf("but outlast cannot be set up here, so the command runs without it: %w", err)
	}
	run.Close()
	return nil
}

// prepareUnderLink is a run of the command with what the environment and the
// configuration say, and no flags: they are all the command's. A lost race is
// the caller's to see, who may have meant to lose it.
func prepareUnderLink(command, env []string) (*wrap.Run, error) {
	var c cli
	args := []string{"run", "--", command[0]}
	parser, err := newParser(c.grammar(args))
	if err != nil {
		return nil, err
	}
	if _, err := parse(parser, args); err != nil {
		return nil, err
	}
	c.Run.Quiet, c.Run.Verbose, c.Run.SurfaceConflict = true, false, true
	return wrap.Prepare(&wrap.Request{Flags: c.Run.Flags, Argv: command, Env: env, Linked: true})
}

// replace lets the command take the tool's place.
func replace(name string, command, env []string) int {
	return asShell(name, process.Replace(command, env))
}

// codeUnderLink is the exit code of a run.
func codeUnderLink(name string, err error) int {
	var start *process.StartError
	var refused wrap.NotRunError
	if errors.As(err, &start) {
		return asShell(name, err)
	}
	if errors.As(err, &refused) { // a caller that asks for a journal must see why nothing was run
		fmt.Fprintf(os.Stderr, "%s: not run: %s\n", name, strings.TrimPrefix(refused.Error(), "outlast: "))
	}
	return exitCode(err)
}

// asShell tells why there is nothing that could be run, as a shell would, and
// gives its exit code.
func asShell(name string, err error) int {
	var missing *link.NotFoundError
	var start *process.StartError
	code := exit.CodeUnusable
	switch {
	case errors.As(err, &missing):
		code, err = missing.ExitCode, missing.Err
	case errors.As(err, &start):
		code, err = start.ExitCode, start.Err
	}
	fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
	return code
}
