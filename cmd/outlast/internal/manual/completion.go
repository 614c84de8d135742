package manual

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// Shells are those that Completion knows.
var Shells = []string{"bash", "zsh", "fish"}

// Completion is a script that completes the tool's command line in a shell.
// Behind a verb that wraps a command it leaves the word to that command's own
// completion. words has what may stand for a placeholder.
func Completion(app *kong.Node, shell string, words map[string][]string) (string, error) {
	w := &script{tool: app.Name, words: words}
	switch shell {
	case "bash":
		w.bash(verbs(app))
	case "zsh":
		w.zsh(verbs(app))
	case "fish":
		w.fish(verbs(app))
	default:
		return "", fmt.Errorf("shell: expected one of %s, not %q", strings.Join(Shells, ", "), shell)
	}
	return w.text.String(), nil
}

type script struct {
	tool  string
	words map[string][]string
	text  strings.Builder
}

func (w *script) line(format string, args ...any) {
	fmt.Fprintf(&w.text, format+"\n", args...)
}

// quoted is s as one word of a shell.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
