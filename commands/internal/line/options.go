package line

import "strings"

// Option is one option as it was given, under the name that it was given by.
type Option struct {
	Name, Value string
}

// Grammar is how a command reads its options. What is not in it is not known.
type Grammar struct {
	Alone     Names // options without a value, with their dashes
	WithValue Names // those that take one
	Equals    bool  // a long one may carry its value after "="
	OptFirst  bool  // the first operand ends the options
	Unbundled bool  // short ones are not joined
}

// find says whether an option is known, and takes a value.
func (g *Grammar) find(name string) (takes, known bool) {
	takes = g.WithValue.Has(name)
	return takes, takes || g.Alone.Has(name)
}

// Names is a set of names, between spaces. It is text so that the program's
// start does nothing for commands that it is not asked to run.
type Names string

// Has says whether a name is one of them.
func (n Names) Has(name string) bool {
	for one := range strings.FieldsSeq(string(n)) {
		if one == name {
			return true
		}
	}
	return false
}

// Scan reads the arguments. ok is false if there is anything that the grammar
// does not know; then nothing may be concluded from the rest.
func (g *Grammar) Scan(args []string) (options []Option, operands []string, ok bool) {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "-" || !strings.HasPrefix(arg, "-") {
			operands = append(operands, arg)
			if g.OptFirst {
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
			found[len(found)-1].Value = args[i]
		}
		options = append(options, found...)
	}
	return options, operands, true
}

// one is the options of one argument, nil if one is not known, and whether the
// last of them takes the next argument as its value.
func (g *Grammar) one(arg string) (found []Option, needs bool) {
	if strings.HasPrefix(arg, "--") || g.Unbundled {
		name, value, has := arg, "", false
		if g.Equals {
			name, value, has = strings.Cut(arg, "=")
		}
		takes, known := g.find(name)
		if !known {
			return nil, false
		}
		return []Option{{name, value}}, takes && !has
	}
	for j := 1; j < len(arg); j++ {
		name := "-" + arg[j:j+1]
		takes, known := g.find(name)
		switch {
		case !known:
			return nil, false
		case takes && j+1 < len(arg):
			return append(found, Option{name, arg[j+1:]}), false
		case takes:
			return append(found, Option{name, ""}), true
		}
		found = append(found, Option{name, ""})
	}
	return found, false
}
