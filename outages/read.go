package outages

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"outlast/abi"
	"outlast/abi/fields"
	"outlast/abi/strictjson"
	"outlast/plugin/policy"
)

// Error is what is wrong with a file: every fault, with its field's path.
type Error struct {
	Name   string // the file; "" for a text
	Faults []strictjson.Fault
}

func (e *Error) Error() string {
	text := e.Faults[0].Error()
	if n := len(e.Faults); n > 1 {
		text += fmt.Sprintf(" (and %d more)", n-1)
	}
	if e.Name == "" {
		return "outages: " + text
	}
	return e.Name + ": " + text
}

// Read reads a file of outages. An error of what it holds is an *Error.
func Read(path string) ([]Outage, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, MaxBytes+1))
	if err != nil {
		return nil, err
	}
	list, err := Parse(string(text))
	var faults *Error
	if errors.As(err, &faults) {
		faults.Name = path
	}
	return list, err
}

// Parse reads the text of a file, or of a policy's measured. Every error is an
// *Error.
func Parse(text string) ([]Outage, error) {
	if strings.TrimSpace(text) == "" {
		return nil, &Error{Faults: []strictjson.Fault{{Message: `is empty; expected {"version": 1, "measured": […]}`}}}
	}
	v, err := strictjson.Parse(text, strictjson.Limits{Bytes: MaxBytes, Depth: abi.MaxDepth})
	if err != nil {
		return nil, &Error{Faults: []strictjson.Fault{{Message: located(text, err)}}}
	}
	r := &reader{}
	list := r.file(v)
	if len(r.List) > 0 {
		return nil, &Error{Faults: r.List}
	}
	return list, nil
}

// located is a syntax error with its line, which a person finds faster than a
// byte.
func located(text string, err error) string {
	var syntax *strictjson.SyntaxError
	if !errors.As(err, &syntax) || syntax.Offset > len(text) {
		return err.Error()
	}
	before := text[:syntax.Offset]
	line := strings.Count(before, "\n") + 1
	column := len(before) - strings.LastIndexByte(before, '\n')
	return fmt.Sprintf("is not JSON as it must be: %s in line %d, byte %d", syntax.Message, line, column)
}

// reader reads a file and collects its faults.
type reader struct {
	strictjson.Faults
}

func (r *reader) file(v strictjson.Value) []Outage {
	if v.Kind == strictjson.Array {
		return r.checked(r.entries(v, ""), "")
	}
	if v.Kind != strictjson.Object {
		r.Add("", `expected an object with version and measured, or an array of outages, not `+v.Kind.String())
		return nil
	}
	m := r.Members(v, "")
	m.Require("version")
	if n, ok := m.Int("version", 0, strictjson.MaxInteger); ok && n != Version {
		m.Fault("version", fmt.Sprintf("expected %d, the only version there is so far, not %d", Version, n))
		return nil // what another version means by the rest is not known
	}
	list := r.entries(m.Require("measured"), "measured")
	r.details(m.Value("details"), list)
	m.End()
	return r.checked(list, "measured")
}

// entries reads what a policy has as measured, with the policy's own reader, so
// that the two cannot drift apart.
func (r *reader) entries(v strictjson.Value, path string) []Outage {
	if v.Kind == strictjson.Missing {
		return nil
	}
	if len(v.Items) > MaxOutages {
		r.Add(path, fmt.Sprintf("has %d outages; at most %d are read", len(v.Items), MaxOutages))
		return nil
	}
	var read measured
	var w strictjson.Writer
	w.Open('{')
	w.Name("measured")
	write(&w, v)
	w.Close('}')
	limits := strictjson.Limits{Bytes: len(w.Bytes), Depth: abi.MaxDepth + 1}
	faults, err := fields.Read(string(w.Bytes), limits, fields.Strict, &read)
	if err != nil {
		r.Add(path, err.Error())
		return nil
	}
	for _, f := range faults {
		r.Add(path+strings.TrimPrefix(f.Field, "measured"), f.Message)
	}
	if len(faults) > 0 {
		return nil
	}
	list := make([]Outage, 0, len(read.list))
	for i, m := range read.list {
		list = append(list, r.entry(m, strictjson.Index(path, i)))
	}
	return list
}

// measured is the part of a policy that has outages.
type measured struct{ list []policy.Measured }

// Fields implements fields.Message.
func (m *measured) Fields(f *fields.List) { fields.Items(f, "measured", &m.list) }

// write writes a value as it was read.
func write(w *strictjson.Writer, v strictjson.Value) {
	switch v.Kind {
	case strictjson.Array:
		w.Open('[')
		for _, item := range v.Items {
			write(w, item)
		}
		w.Close(']')
	case strictjson.Object:
		w.Open('{')
		for i, item := range v.Items {
			w.Name(v.Names[i])
			write(w, item)
		}
		w.Close('}')
	case strictjson.String:
		w.String(v.Text)
	case strictjson.Number:
		w.Raw(v.Text)
	case strictjson.Bool:
		w.Bool(v.Truth)
	default:
		w.Raw("null")
	}
}
