package manual

import (
	"strings"

	"github.com/alecthomas/kong"
)

// fish has a condition for each verb: the words before the cursor that are no
// flags begin with it.
func (w *script) fish(all []verb) {
	w.line("# fish completion of %s", w.tool)
	w.line(`function __%s_verb`, w.tool)
	w.line(`  set -l words (commandline -opc)`)
	w.line(`  contains -- -- $words; and test "$argv" != --; and return 1`)
	w.line(`  set -l said`)
	w.line(`  for word in $words[2..]`)
	w.line(`    switch "$said $word"`)
	for _, v := range all[1:] {
		parent, name := "", v.name
		if i := strings.LastIndexByte(name, ' '); i >= 0 {
			parent, name = name[:i], name[i+1:]
		}
		w.line(`      case %s`, quoted(parent+" "+name))
		w.line(`        set said %s`, quoted(v.name))
	}
	w.line(`    end`)
	w.line(`  end`)
	w.line(`  test "$said" = "$argv"`)
	w.line(`end`)
	w.line(`function __%s_wrapped`, w.tool)
	w.line(`  set -l words (commandline -opc)`)
	w.line(`  set -l at (contains -i -- -- $words); or return 1`)
	w.line(`  set -l rest $words[(math $at + 1)..] (commandline -ct)`)
	w.line(`  complete -C (string join -- ' ' (string escape -- $rest))`)
	w.line(`end`)
	w.line(`complete -c %s -f`, w.tool)
	w.line(`complete -c %s -n 'contains -- -- (commandline -opc)' -a '(__%s_wrapped)'`, w.tool, w.tool)
	for _, v := range all {
		w.fishVerb(v)
	}
}

func (w *script) fishVerb(v verb) {
	when := "complete -c " + w.tool + " -n " + quoted("__"+w.tool+"_verb "+quoted(v.name))
	for _, child := range v.children() {
		w.line("%s -a %s -d %s", when, child.Name, quoted(firstSentence(child.Help)))
	}
	for _, f := range v.flags() {
		short := ""
		if f.Short != 0 {
			short = " -s " + string(f.Short)
		}
		w.line("%s -l %s%s -d %s%s", when, f.Name, short, quoted(firstSentence(f.Help)), w.fishValue(f))
	}
	for _, p := range v.node.Positional {
		k, choices := valueOf(p, p.Tag.PlaceHolder, w.words)
		switch {
		case p.Passthrough:
			w.line("%s -a --", when)
		case k == file || k == folder:
			w.line("%s -F -a %s", when, quoted(strings.Join(choices, " ")))
		case k == oneOf:
			w.line("%s -a %s", when, quoted(strings.Join(choices, " ")))
		}
	}
}

func (w *script) fishValue(f *kong.Flag) string {
	if !takesValue(f) {
		return ""
	}
	k, choices := valueOf(f.Value, f.PlaceHolder, w.words)
	list := ""
	if len(choices) > 0 {
		list = " -a " + quoted(strings.Join(choices, " "))
	}
	if k == file || k == folder {
		return " -r -F" + list
	}
	return " -x" + list
}
