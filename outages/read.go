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
	before, after := "", ""
	switch trimmed := strings.TrimSpace(text); {
	case trimmed == "":
		return nil, &Error{Faults: []strictjson.Fault{{Message: `is empty; expected {"version": 1, "measured": […]}`}}}
	case trimmed[0] == '[':
		before, after = `{"version":1,"measured":`, "}"
	}
	d := document{version: Version}
	limits := strictjson.Limits{Bytes: MaxBytes + len(before) + len(after), Depth: abi.MaxDepth + 1}
	faults, err := fields.Read(before+text+after, limits, fields.Strict, &d)
	r := &reader{}
	switch {
	case err != nil:
		r.Add("", located(text, len(before), err))
	case d.version != Version && d.version >= 0: // what another version means by the rest is not known
		r.Add("version", fmt.Sprintf("expected %d, the only version there is so far, not %d", Version, d.version))
	case len(faults) > 0:
		r.List = faults
		if top := &r.List[0]; top.Field == "" {
			top.Message = strings.Replace(top.Message, "an object,", "an object with version and measured, or an array of outages,", 1)
		}
	}
	var list []Outage
	if len(r.List) == 0 {
		list = r.outages(&d)
	}
	if len(r.List) == 0 {
		return list, nil
	}
	for i := range r.List {
		f := &r.List[i]
		if before != "" {
			f.Field = strings.TrimPrefix(f.Field, "measured")
		}
		f.Field = d.quoted(f.Field)
	}
	return nil, &Error{Faults: r.List}
}

// quoted is a path with the name of an outage in quotes, since it may be anything.
func (d *document) quoted(path string) string {
	for _, of := range d.details {
		rest, is := strings.CutPrefix(path, "details."+of.name)
		if is && (rest == "" || rest[0] == '.') {
			return "details[" + strictjson.Quote(of.name) + "]" + rest
		}
	}
	return path
}

// located is a syntax error with its line, which a person finds faster than a
// byte. So many bytes stood before the text.
func located(text string, before int, err error) string {
	var syntax *strictjson.SyntaxError
	if !errors.As(err, &syntax) || syntax.Offset < before || syntax.Offset-before > len(text) {
		return err.Error()
	}
	read := text[:syntax.Offset-before]
	line := strings.Count(read, "\n") + 1
	column := len(read) - strings.LastIndexByte(read, '\n')
	return fmt.Sprintf("is not JSON as it must be: %s in line %d, byte %d", syntax.Message, line, column)
}
