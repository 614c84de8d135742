package manual

import (
	"cmp"
	"embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// scripts ask the tool what may come next, and leave what follows a "--" to the
// wrapped command's own completion. They call it TOOL.
//
//go:embed completion.*
var scripts embed.FS

// Shells are those that Completion knows.
var Shells = []string{"bash", "zsh", "fish"}

// Completion is a script that completes the tool's command line in a shell.
func Completion(tool, shell string) (string, error) {
	text, err := scripts.ReadFile("completion." + shell)
	if err != nil {
		return "", fmt.Errorf("shell: expected one of %s, not %q", strings.Join(Shells, ", "), shell)
	}
	return strings.ReplaceAll(string(text), "TOOL", tool), nil
}

// Offer tells a script what may follow these words, which come after the tool's
// name: a line that says whether it is a file, a folder or one of the words below,
// then each word, a tab, and what it is. words has what may stand for a
// placeholder.
func Offer(out io.Writer, app *kong.Node, line []string, words map[string][]string) {
	v := verb{"", app}
	for _, word := range line {
		if i := slices.IndexFunc(v.children(), func(n *kong.Node) bool { return n.Name == word }); i >= 0 {
			v.node = v.children()[i]
		}
	}
	last := ""
	if len(line) > 0 {
		last = line[len(line)-1]
	}
	for _, f := range v.flags() {
		if takesValue(f) && slices.Contains(names(f), last) {
			kind, choices := valueOf(f.Value, f.PlaceHolder, words)
			fmt.Fprintln(out, kind)
			for _, choice := range choices {
				fmt.Fprintln(out, choice)
			}
			return
		}
	}
	v.offer(out, words)
}

// offer tells what may follow where no flag waits for its value.
func (v verb) offer(out io.Writer, words map[string][]string) {
	kind, choices := anything, []string(nil)
	for _, p := range v.node.Positional {
		if p.Passthrough {
			choices = append(choices, "--")
		} else if kind == anything {
			kind, choices = valueOf(p, p.Tag.PlaceHolder, words)
		}
	}
	fmt.Fprintln(out, cmp.Or(kind, oneOf))
	for _, choice := range choices {
		fmt.Fprintln(out, choice)
	}
	for _, child := range v.children() {
		fmt.Fprintf(out, "%s\t%s\n", child.Name, firstSentence(child.Help))
	}
	for _, f := range v.flags() {
		for _, name := range names(f) {
			fmt.Fprintf(out, "%s\t%s\n", name, firstSentence(f.Help))
		}
	}
}
