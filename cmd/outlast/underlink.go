package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"outlast/cmd/outlast/internal/link"
	"outlast/process"
)

// voice is where say says what is ours: nowhere under a link.
var voice io.Writer = os.Stderr

// underLink runs the command that the tool was called as, by the name of a link
// to it; under is false if that was the tool's own name. A caller must find the
// command's own words only: whatever is wrong with our part, the command runs as
// if there were no link.
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
	voice = io.Discard
	command := append([]string{program}, argv[1:]...)
	if switchedOff() || isInside() || !hasPolicy(name) {
		return replace(name, command, env), true
	}
	w, err := prepareUnderLink(command, env)
	if err != nil {
		return replace(name, command, env), true
	}
	defer w.close()
	return codeUnderLink(name, w.run(context.Background())), true
}

func called(argv []string) (name string, under bool) {
	if len(argv) == 0 {
		return "", false
	}
	return link.Invoked(argv[0])
}

// hasPolicy says whether calls of a command can be run again without being told
// how: a link stands for no other.
func hasPolicy(name string) bool { return policyFor(name) != "" }

// behindLink is the program that the link stands for, and its environment.
func behindLink(name string) (program string, env []string, err error) {
	path, set := os.LookupEnv("PATH")
	if !set {
		path = "/bin:/usr/bin" // as the C library has it
	}
	trail := link.ReadTrail(os.Getenv(link.TrailVar))
	self, _ := os.Executable() // without it, only its contents tell what we are
	program, err = link.Find(name, self, path, trail)
	return program, trail.Env(os.Environ(), program), err
}

// switchedOff says whether the user wants links to do nothing.
func switchedOff() bool {
	switch strings.ToLower(os.Getenv("OUTLAST_OFF")) {
	case "", "0", "false", "no":
		return false
	}
	return true
}

// unprotected says why, in this environment, a link runs the command once and
// no more; nil if it does not.
func unprotected(name string) error {
	switch {
	case switchedOff():
		return errors.New("but OUTLAST_OFF is set here: the command runs as without outlast")
	case isInside():
		return errors.New("but " + attemptVar + " is set here: another outlast decides what is run again")
	}
	w, err := prepareUnderLink([]string{name}, os.Environ())
	if err != nil {
		return fmt.Errorf("but outlast cannot be set up here, so the command runs as without it: %w", err)
	}
	w.close()
	return nil
}

// prepareUnderLink is a run of the command with what the environment and the
// configuration say, and no flags: they are all the command's. A lost race is
// the caller's to see, who may have meant to lose it.
func prepareUnderLink(command, env []string) (*wrapped, error) {
	var c cli
	args := []string{"run", "--", command[0]}
	parser, err := newParser(c.grammar(args))
	if err != nil {
		return nil, err
	}
	if _, err := parser.Parse(args); err != nil {
		return nil, err
	}
	c.Run.Quiet, c.Run.Verbose, c.Run.SurfaceConflict = true, false, true
	w := &wrapped{verb: &c.Run, argv: command, env: env, linked: true}
	return w, w.prepare()
}

// replace lets the command take our place.
func replace(name string, command, env []string) int {
	return asShell(name, process.Replace(command, env))
}

// codeUnderLink is the exit code of a run.
func codeUnderLink(name string, err error) int {
	var start *process.StartError
	var refused refusedError
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
	code := exitUnusable
	switch {
	case errors.As(err, &missing):
		code, err = missing.ExitCode, missing.Err
	case errors.As(err, &start):
		code, err = start.ExitCode, start.Err
	}
	fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
	return code
}
