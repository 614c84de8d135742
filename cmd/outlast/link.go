package main

import (
	"fmt"
	"os"

	"outlast/cmd/outlast/internal/link"
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
and the configuration file. Nothing of outlast's is printed, and no lock is
taken. OUTLAST_OFF=1 in the environment runs the command itself.`
}

// Run makes a link, checks it or removes it.
func (v *linkVerb) Run() error {
	switch {
	case v.Name == "":
		return usageError("link: expected the command's name, such as omnigraph")
	case !hasPolicy(v.Name):
		return usageError("link: there is no policy for %s that a link could use", v.Name)
	}
	outlast, err := link.Self()
	if err != nil {
		return unusable(err)
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
		return usageError("link: --check looks at all of PATH; leave --dir out")
	case v.Check:
		if err := v.tell(link.Check(v.Name, outlast, path)); err != nil {
			return err
		}
		return ineffective(unprotected(v.Name))
	case v.Dir == "":
		return usageError("link: expected the link's folder with --dir, one that is on PATH before %s's", v.Name)
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
	return &exitError{exitIneffective, fmt.Errorf("link: %w", err)}
}
