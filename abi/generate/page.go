package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"

	"outlast/abi/fields"
)

// withTables is the contract's page with each table between its marks written
// anew: <!-- fields NAME --> and <!-- end -->.
func withTables(file string) ([]byte, error) {
	page, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for i := range messages {
		if messages[i].rows {
			continue
		}
		name := nameOf(messages[i].of)
		start, end := fmt.Appendf(nil, "<!-- fields %s -->\n", name), []byte("<!-- end -->")
		before, rest, ok := bytes.Cut(page, start)
		_, after, closed := bytes.Cut(rest, end)
		if !ok || !closed {
			return nil, fmt.Errorf("%s has no place for the table of %s", file, name)
		}
		table := []byte(tableOf(messages[i].of))
		page = bytes.Join([][]byte{before, start, table, end, after}, nil)
	}
	return page, nil
}

// tableOf has a row for each field of a message, and of those inside it that
// have no table of their own.
func tableOf(of fields.Message) string {
	rows := rowsOf("", of)
	defaults := false
	for _, r := range rows {
		defaults = defaults || r.Default != ""
	}
	var b strings.Builder
	line := func(cells ...string) { b.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	if defaults {
		line("member", "type", "what", "default", "since")
		line("---", "---", "---", "---", "---")
	} else {
		line("member", "type", "what", "since")
		line("---", "---", "---", "---")
	}
	for _, r := range rows {
		kind := typeOf(&r)
		if r.Required {
			kind += ", required"
		}
		if defaults {
			line("`"+r.Name+"`", kind, r.Says, r.Default, r.Since)
		} else {
			line("`"+r.Name+"`", kind, r.Says, r.Since)
		}
	}
	return b.String()
}

func rowsOf(prefix string, of fields.Message) (rows []fields.About) {
	for _, f := range fields.Describe(of) {
		f.Name = prefix + f.Name
		rows = append(rows, f)
		if m := known(f.Of); f.Of != nil && (m == nil || m.rows) {
			within := f.Name + "."
			if f.Kind == "array" {
				within = f.Name + "[]."
			}
			rows = append(rows, rowsOf(within, f.Of)...)
		}
	}
	return rows
}

// typeOf is a field's type for people.
func typeOf(f *fields.About) string {
	switch f.Kind {
	case "string":
		if f.High > 0 {
			return fmt.Sprintf("string, at most %d bytes", f.High)
		}
	case "text":
		return "[text](#texts)"
	case "word":
		return "`" + strings.ReplaceAll(strings.Join(words(f), "`, `"), `"`, "") + "`"
	case "integer":
		switch {
		case f.Low == f.High:
			return fmt.Sprint(f.Low)
		case f.Low == -fields.Most:
			return "integer"
		case f.High == fields.Most:
			return fmt.Sprintf("integer from %d", f.Low)
		}
		return fmt.Sprintf("integer from %d to %d", f.Low, f.High)
	case "number":
		return "any number"
	case "policy":
		return "string or object"
	case "document":
		return "object"
	case "fraction":
		return fmt.Sprintf("%d to %d", f.Low, f.High)
	case "named":
		return fmt.Sprintf("object of at most %d", f.High)
	case "array":
		return arrayOf(f)
	case "object":
		if m := known(f.Of); m != nil && !m.rows {
			return "[" + m.file + m.part + "](#" + m.file + m.part + ")"
		}
	}
	return f.Kind
}

// arrayOf is an array's type for people.
func arrayOf(f *fields.About) string {
	switch {
	case f.Items != nil && f.Items.Kind == "string":
		return "array of words"
	case f.Items != nil:
		return "array of " + strings.Replace(typeOf(f.Items), "integer", "integers", 1)
	case f.High > 0:
		return fmt.Sprintf("array of %d to %d", f.Low, f.High)
	case f.Low > 0:
		return fmt.Sprintf("array of at least %d", f.Low)
	}
	return "array"
}
