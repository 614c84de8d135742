package manual

import (
	"strings"

	"github.com/alecthomas/kong"
)

// zsh has a function for each verb, which _arguments drives.
func (w *script) zsh(all []verb) {
	w.line("#compdef %s", w.tool)
	w.line(`_%s_or_files() { compadd -- "$@"; _files }`, w.tool)
	for i := len(all) - 1; i >= 0; i-- {
		w.zshVerb(all[i])
	}
	w.line(`if [[ $funcstack[1] == _%s ]]; then _%s "$@"; else compdef _%s %s; fi`, w.tool, w.tool, w.tool, w.tool)
}

func (w *script) zshName(v verb) string {
	return strings.ReplaceAll(strings.TrimSpace(w.tool+" "+v.name), " ", "_")
}

func (w *script) zshVerb(v verb) {
	w.line("_%s() {", w.zshName(v))
	w.line("  local context state state_descr line; typeset -A opt_args")
	w.line("  _arguments -C -S -s \\")
	for _, f := range v.flags() {
		w.line("    %s \\", w.zshFlag(f))
	}
	switch {
	case len(v.children()) > 0:
		w.line("    '1: :->verb' '*:: :->rest'")
		w.zshChildren(v)
	case v.wraps():
		w.line("    '(-)1:command:_command_names -e' '*::argument:_normal'")
	default:
		w.line("    %s", w.zshPositionals(v))
	}
	w.line("}")
}

func (w *script) zshChildren(v verb) {
	w.line("  case $state in")
	w.line("    verb)")
	w.line("      local -a verbs=(")
	for _, child := range v.children() {
		w.line("        %s", quoted(child.Name+":"+firstSentence(child.Help)))
	}
	w.line("      )")
	w.line("      _describe verb verbs ;;")
	w.line("    rest)")
	w.line("      case $line[1] in")
	for _, child := range v.children() {
		name := w.zshName(verb{strings.TrimSpace(v.name + " " + child.Name), child})
		w.line("        %s) _%s ;;", child.Name, name)
	}
	w.line("      esac ;;")
	w.line("  esac")
}

func (w *script) zshFlag(f *kong.Flag) string {
	spec := "[" + zshEscaped(firstSentence(f.Help)) + "]"
	if takesValue(f) {
		spec += ":" + zshEscaped(strings.ToLower(f.FormatPlaceHolder())) + ":" + w.zshAction(f.Value, f.PlaceHolder)
	}
	all := names(f)
	if len(all) == 1 {
		return quoted(all[0] + spec)
	}
	return quoted("("+strings.Join(all, " ")+")") + "{" + strings.Join(all, ",") + "}" + quoted(spec)
}

func (w *script) zshPositionals(v verb) string {
	var list []string
	for _, p := range v.node.Positional {
		list = append(list, quoted("::"+zshEscaped(p.Name)+":"+w.zshAction(p, p.Tag.PlaceHolder)))
	}
	return strings.Join(list, " ")
}

func (w *script) zshAction(v *kong.Value, placeholder string) string {
	k, choices := valueOf(v, placeholder, w.words)
	words := "(" + strings.Join(choices, " ") + ")"
	switch {
	case k == oneOf:
		return words
	case k == file && len(choices) > 0:
		// The space in front keeps _arguments from adding options of its own.
		return " _" + w.tool + "_or_files " + strings.Join(choices, " ")
	case k == file:
		return "_files"
	case k == folder:
		return "_files -/"
	}
	return " "
}

// zshEscaped takes the meaning off the characters that end a part of a spec.
func zshEscaped(s string) string {
	return strings.NewReplacer("[", "(", "]", ")", ":", `\:`).Replace(s)
}
