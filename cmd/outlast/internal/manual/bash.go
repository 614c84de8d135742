package manual

import "strings"

// bash finds the verb by the words before the cursor, then what may follow.
func (w *script) bash(all []verb) {
	w.line("# bash completion of %s", w.tool)
	w.line("_%s() {", w.tool)
	w.line(`  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} verb= word i`)
	w.line(`  for ((i = 1; i < COMP_CWORD; i++)); do`)
	w.line(`    word=${COMP_WORDS[i]}`)
	w.line(`    if [[ $word == -- ]]; then`)
	w.line(`      if declare -F _command_offset >/dev/null; then _command_offset $((i + 1)); return; fi`)
	w.line(`      if ((COMP_CWORD == i + 1)); then COMPREPLY=($(compgen -c -- "$cur")); else COMPREPLY=($(compgen -f -- "$cur")); fi`)
	w.line(`      return`)
	w.line(`    fi`)
	w.line(`    case "${verb:+$verb }$word" in`)
	for _, v := range all[1:] {
		w.line(`      %s) verb=%s ;;`, quoted(v.name), quoted(v.name))
	}
	w.line(`    esac`)
	w.line(`  done`)
	w.line(`  case "$verb:$prev" in`)
	for _, v := range all {
		for _, f := range v.flags() {
			if takesValue(f) {
				k, choices := valueOf(f.Value, f.PlaceHolder, w.words)
				for _, name := range names(f) {
					w.line(`    %s) %s; return ;;`, quoted(v.name+":"+name), bashValue(k, choices))
				}
			}
		}
	}
	w.line(`  esac`)
	w.line(`  case "$verb" in`)
	for _, v := range all {
		w.line(`    %s) %s ;;`, quoted(v.name), w.bashVerb(v))
	}
	w.line(`  esac`)
	w.line("}")
	w.line("complete -F _%s %s", w.tool, w.tool)
}

// bashVerb completes what is no flag's value.
func (w *script) bashVerb(v verb) string {
	var list []string
	for _, child := range v.children() {
		list = append(list, child.Name)
	}
	for _, f := range v.flags() {
		list = append(list, names(f)...)
	}
	if v.wraps() {
		list = append(list, "--")
	}
	action := bashValue(oneOf, list)
	for _, p := range v.node.Positional {
		if k, choices := valueOf(p, p.Tag.PlaceHolder, w.words); k != anything && !p.Passthrough {
			action = `if [[ $cur != -* ]]; then ` + bashValue(k, choices) + `; else ` + action + `; fi`
			break
		}
	}
	return action
}

func bashValue(k kind, choices []string) string {
	word := ""
	if len(choices) > 0 {
		word = ` -W ` + quoted(strings.Join(choices, " "))
	}
	switch k {
	case oneOf:
		return `COMPREPLY=($(compgen` + word + ` -- "$cur"))`
	case file:
		return `compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f` + word + ` -- "$cur"))`
	case folder:
		return `compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d` + word + ` -- "$cur"))`
	}
	return "COMPREPLY=()"
}
