package commands

import "strings"

// option is one option as it was given, under the name that it was given by.
type option struct {
	name, value string
}

// grammar is how a command reads its options. What is not in it is not known.
type grammar struct {
	flags     flags // with their dashes
	equals    bool  // a long one may carry its value after "="
	optFirst  bool  // the first operand ends the options
	unbundled bool  // short ones are not joined
}

// flags are the names of options: those that stand alone, and those that take a
// value.
type flags struct{ alone, withValue names }

// find says whether an option is known, and takes a value.
func (f *flags) find(name string) (takes, known bool) {
	takes = f.withValue.has(name)
	return takes, takes || f.alone.has(name)
}

// names is a set of names, between spaces. It is text so that the program's
// start does nothing for commands that it is not asked to run.
type names string

func (n names) has(name string) bool {
	for one := range strings.FieldsSeq(string(n)) {
		if one == name {
			return true
		}
	}
	return false
}

// scan reads the arguments. ok is false if there is anything that the grammar
// does not know; then nothing may be concluded from the rest.
func (g *grammar) scan(args []string) (options []option, operands []string, ok bool) {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "-" || !strings.HasPrefix(arg, "-") {
			operands = append(operands, arg)
			if g.optFirst {
				return options, append(operands, args[i+1:]...), true
			}
			continue
		}
		found, needs := g.one(arg)
		if found == nil {
			return nil, nil, false
		}
		if needs {
			if i++; i == len(args) {
				return nil, nil, false
			}
			found[len(found)-1].value = args[i]
		}
		options = append(options, found...)
	}
	return options, operands, true
}

// one is the options of one argument, nil if one is not known, and whether the
// last of them takes the next argument as its value.
func (g *grammar) one(arg string) (found []option, needs bool) {
	if strings.HasPrefix(arg, "--") || g.unbundled {
		name, value, has := arg, "", false
		if g.equals {
			name, value, has = strings.Cut(arg, "=")
		}
		takes, known := g.flags.find(name)
		if !known {
			return nil, false
		}
		return []option{{name, value}}, takes && !has
	}
	for j := 1; j < len(arg); j++ {
		name := "-" + arg[j:j+1]
		takes, known := g.flags.find(name)
		switch {
		case !known:
			return nil, false
		case takes && j+1 < len(arg):
			return append(found, option{name, arg[j+1:]}), false
		case takes:
			return append(found, option{name, ""}), true
		}
		found = append(found, option{name, ""})
	}
	return found, false
}
