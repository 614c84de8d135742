// Package manual makes the tool's manual page and its shell completions, both
// from the command line as it is declared, so that neither can be out of date.
package manual

import (
	"strings"

	"github.com/alecthomas/kong"
)

// verb is one that can be called: a name such as "policy show", and what
// completes it.
type verb struct {
	name string // "" for the tool itself
	node *kong.Node
}

// verbs are all that are not hidden, the tool itself first.
func verbs(app *kong.Node) []verb {
	list := []verb{{"", app}}
	for i := 0; i < len(list); i++ {
		for _, child := range list[i].node.Children {
			if !child.Hidden {
				list = append(list, verb{strings.TrimSpace(list[i].name + " " + child.Name), child})
			}
		}
	}
	return list
}

// children are the verb's own verbs.
func (v verb) children() []*kong.Node {
	var list []*kong.Node
	for _, child := range v.node.Children {
		if !child.Hidden {
			list = append(list, child)
		}
	}
	return list
}

// flags are the verb's, and --help.
func (v verb) flags() []*kong.Flag {
	var list []*kong.Flag
	for _, group := range v.node.AllFlags(true) {
		list = append(list, group...)
	}
	return list
}

// names are a flag's spellings.
func names(f *kong.Flag) []string {
	list := []string{"--" + f.Name}
	if f.Short != 0 {
		list = append(list, "-"+string(f.Short))
	}
	return list
}

func takesValue(f *kong.Flag) bool { return !f.IsBool() && !f.IsCounter() }

// kind is what may stand for a value, as the scripts call it.
type kind string

const (
	anything kind = ""
	oneOf    kind = "words"
	file     kind = "file" // or a folder; the words as well
	folder   kind = "folder"
)

// valueOf says what may stand for a value whose placeholder is given: FILE and
// DIR, or a list of choices. words has more for a placeholder, such as the
// names of policies for NAME|FILE.
func valueOf(v *kong.Value, placeholder string, words map[string][]string) (kind, []string) {
	choices := words[placeholder]
	if v.Enum != "" {
		choices = v.EnumSlice()
	}
	switch {
	case strings.Contains(placeholder, "FILE"):
		return file, choices
	case strings.Contains(placeholder, "DIR"):
		return folder, choices
	case len(choices) > 0:
		return oneOf, choices
	}
	return anything, nil
}

// firstSentence is a help text's start, for a list.
func firstSentence(help string) string {
	if i := strings.Index(help, ". "); i >= 0 {
		return help[:i]
	}
	return strings.TrimSuffix(help, ".")
}
