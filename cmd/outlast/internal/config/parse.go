package config

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"

	"outlast/internal/plainyaml"
)

// file is a file's settings: for every command, and for one.
type file struct {
	general  section
	commands map[string]section
}

// section is settings by name.
type section map[string]entry

// entry is a setting's value and where it was.
type entry struct {
	value []string // one text, but for a list of them
	where string
}

// is says whether a setting that can be true or false is true; others are.
func (e entry) is() bool { return len(e.value) != 1 || e.value[0] != "false" }

// reader reads one file and collects its faults.
type reader struct {
	path   string
	origin origin
	faults []Fault
}

// parseFile reads a file's text. Everything that is not exactly as it must be
// is a fault: a setting that is passed over is worse than none.
func parseFile(path string, text []byte, o origin) (f file, faults []Fault) {
	o.file = true
	r := &reader{path: path, origin: o}
	if line := badUTF8(text); line > 0 {
		r.add(line, "", "is not UTF-8")
		return f, r.faults
	}
	root, err := plainyaml.Parse(strings.TrimPrefix(string(text), "\ufeff"))
	var odd *plainyaml.Fault
	if errors.As(err, &odd) {
		where := path
		if odd.Line > 0 {
			where = r.at(odd.Line)
		}
		return f, []Fault{{Where: where, Message: odd.Message}}
	}
	if root != nil {
		f = r.file(root)
	}
	return f, r.faults
}

// badUTF8 is the line of the first byte that is no UTF-8, 0 if there is none.
func badUTF8(text []byte) int {
	number := 0
	for line := range bytes.Lines(text) {
		if number++; !utf8.Valid(line) {
			return number
		}
	}
	return 0
}

func (r *reader) at(line int) string { return fmt.Sprintf("%s:%d", r.path, line) }

func (r *reader) add(line int, key, format string, args ...any) {
	r.faults = append(r.faults, Fault{Where: r.at(line), Key: key, Message: fmt.Sprintf(format, args...)})
}

// commandsKey is the part of a file that has a section for each command.
const commandsKey = "commands"

func (r *reader) file(root ast.Node) file {
	f := file{general: section{}, commands: map[string]section{}}
	r.members(root, "", func(key string, keyNode, value ast.Node) {
		if key != commandsKey {
			r.setting(f.general, inFile, "", key, keyNode, value)
			return
		}
		r.members(value, key, func(name string, keyNode, value ast.Node) {
			path := key + "." + name
			if name == "" || strings.ContainsAny(name, `/\`) {
				r.add(plainyaml.Line(keyNode), path, "expected a command's name without its directory, such as curl")
				return
			}
			s := section{}
			f.commands[name] = s
			r.members(value, path, func(key string, keyNode, value ast.Node) {
				r.setting(s, inCommand, path+".", key, keyNode, value)
			})
		})
	})
	return f
}

// members calls each with every member of a mapping. Keys are plain words, and
// each is there once.
func (r *reader) members(n ast.Node, path string, each func(key string, keyNode, value ast.Node)) {
	values, ok := plainyaml.Members(n)
	if !ok {
		r.add(plainyaml.Line(n), path, "expected settings, each a line such as max-wait: 150s, not %s", show(n))
		return
	}
	seen := map[string]bool{}
	for _, v := range values {
		key, plain := keyOf(v.Key)
		switch {
		case !plain:
			r.add(plainyaml.Line(v.Key), path, "expected a plain key, not %s", show(v.Key))
		case seen[key]:
			r.add(plainyaml.Line(v.Key), join(path, key), "is there twice")
		default:
			seen[key] = true
			each(key, v.Key, v.Value)
		}
	}
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// keyOf is a key's text, if it is a plain scalar.
func keyOf(n ast.Node) (key string, plain bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return n.GetToken().Value, true
	}
	return "", false
}

// setting reads one setting into the section.
func (r *reader) setting(s section, where places, path, key string, keyNode, value ast.Node) {
	known, line := find(key), plainyaml.Line(keyNode)
	switch {
	case known == nil:
		r.add(line, path+key, "there is no such setting%s", suggest(key, where))
		return
	case known.places&where == 0 && known.places&inCommand != 0:
		r.add(line, path+key, "says something about one command: put it under %s.NAME, or give --%s", commandsKey, key)
		return
	case known.places&where == 0:
		r.add(line, path+key, "is not taken from a file: give --%s", key)
		return
	}
	for _, rival := range rivals(key) {
		if e, there := s[rival]; there && e.is() {
			if text, _ := scalarOf(value); text != "false" {
				r.add(line, path+key, "cannot stand beside %s (%s): they exclude each other", rival, e.where)
				return
			}
		}
	}
	values, err := r.values(known, value)
	if err != nil {
		r.add(line, path+key, "expected %s, not %s%s", known.want, known.show(value), because(err))
		return
	}
	s[key] = entry{value: values, where: r.at(line)}
}

// because is why, if there is more to say than what was expected.
func because(err error) string {
	if err == errForm {
		return ""
	}
	return ": " + err.Error()
}

// values are a setting's texts, checked.
func (r *reader) values(s *setting, n ast.Node) ([]string, error) {
	nodes := []ast.Node{n}
	if list, ok := n.(*ast.SequenceNode); ok {
		if s.form&aList == 0 || len(list.Values) == 0 {
			return nil, errForm
		}
		nodes = list.Values
	}
	var values []string
	for _, n := range nodes {
		text, form := scalarOf(n)
		if s.form&form == 0 {
			return nil, errForm
		}
		value, err := s.read(&r.origin, text)
		if err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	return values, nil
}

// scalarOf is a scalar's text and form; form 0: it is none.
func scalarOf(n ast.Node) (text string, form scalar) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, aText
	case *ast.LiteralNode:
		return n.Value.Value, aText
	case *ast.IntegerNode:
		return n.GetToken().Value, aNumber
	case *ast.BoolNode:
		return strings.ToLower(n.GetToken().Value), aTruth
	}
	return "", 0
}

// show is a node as an error quotes it.
func show(n ast.Node) string {
	switch n := n.(type) {
	case nil, *ast.NullNode:
		return "nothing"
	case *ast.StringNode:
		return fmt.Sprintf("%.60q", n.Value)
	case *ast.LiteralNode:
		return fmt.Sprintf("%.60q", n.Value.Value)
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list: " + fmt.Sprintf("%.60s", n.String())
	}
	return fmt.Sprintf("%.60s", n.GetToken().Value)
}

// suggest names what may have been meant.
func suggest(key string, where places) string {
	fold := func(s string) string {
		return strings.ToLower(strings.NewReplacer("-", "", "_", "", " ", "").Replace(s))
	}
	var names []string
	for _, s := range settings {
		if s.places&where == 0 {
			continue
		}
		if fold(s.name) == fold(key) {
			return ": did you mean " + s.name + "?"
		}
		names = append(names, s.name)
	}
	if where == inFile {
		names = append(names, commandsKey)
	}
	slices.Sort(names)
	return "; there are " + strings.Join(names, ", ")
}
