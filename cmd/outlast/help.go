package main

import (
	"bytes"
	"strings"

	"github.com/alecthomas/kong"
)

// printHelp is kong's help, but for what it says of a wrapped command: that its
// arguments follow the flags, behind --.
func printHelp(options kong.HelpOptions, ctx *kong.Context) error {
	var text bytes.Buffer
	out := ctx.Stdout
	ctx.Stdout = &text
	err := kong.DefaultHelpPrinter(options, ctx)
	ctx.Stdout = out
	if err != nil {
		return err
	}
	usage, rest, _ := strings.Cut(text.String(), "\n")
	if before, after, found := strings.Cut(usage, " [<command> ...]"); found {
		after = strings.TrimSuffix(after, " [flags]")
		usage = before + after + " [flags] -- command [argument ...]"
		if after == "" { // it is the only argument
			rest = withoutPart(rest, "Arguments:\n")
		}
	}
	_, err = out.Write([]byte(usage + "\n" + rest))
	return err
}

// withoutPart leaves out the lines from a heading to the next blank line.
func withoutPart(text, heading string) string {
	before, part, found := strings.Cut(text, heading)
	_, after, ends := strings.Cut(part, "\n\n")
	if !found || !ends {
		return text
	}
	return before + after
}
