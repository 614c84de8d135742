package conformance

import (
	"fmt"
	"math"
	"strings"
	"unicode"

	"outlast/abi/strictjson"
)

// width is where a value of a case file no longer fits into one line (a choice).
const width = 120

// Format writes a case file in its one form: two spaces of indentation, each
// value in one line where it fits, members in their order, numbers as they are
// written.
func Format(text []byte) ([]byte, error) {
	v, err := strictjson.Parse(string(text), strictjson.Limits{Bytes: math.MaxInt, Depth: 100})
	if err != nil {
		return nil, fmt.Errorf("conformance: formatting: %w", err)
	}
	return []byte(layOut(v, 0, 0) + "\n"), nil
}

// layOut is v as JSON, indented by so many levels, where so many columns of
// its first line are taken.
func layOut(v strictjson.Value, level, taken int) string {
	line := oneLine(v)
	if taken+len(line) <= width || len(v.Items) == 0 {
		return line
	}
	var b strings.Builder
	pad := strings.Repeat("  ", level+1)
	b.WriteByte(brackets(v)[0])
	for i, item := range v.Items {
		if i > 0 {
			b.WriteByte(',')
		}
		lead := pad
		if v.Kind == strictjson.Object {
			lead += quote(v.Names[i]) + ": "
		}
		b.WriteString("\n" + lead + layOut(item, level+1, len(lead)+1))
	}
	b.WriteString("\n" + pad[2:])
	b.WriteByte(brackets(v)[1])
	return b.String()
}

func oneLine(v strictjson.Value) string {
	switch v.Kind {
	case strictjson.String:
		return quote(v.Text)
	case strictjson.Number:
		return v.Text
	case strictjson.Bool:
		return fmt.Sprint(v.Truth)
	case strictjson.Null:
		return "null"
	}
	var parts []string
	for i, item := range v.Items {
		part := oneLine(item)
		if v.Kind == strictjson.Object {
			part = quote(v.Names[i]) + ": " + part
		}
		parts = append(parts, part)
	}
	return brackets(v)[:1] + strings.Join(parts, ", ") + brackets(v)[1:]
}

func brackets(v strictjson.Value) string {
	if v.Kind == strictjson.Object {
		return "{}"
	}
	return "[]"
}

// quote is s as a JSON string in which everything that cannot be seen is escaped.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r > 0xffff || unicode.IsPrint(r) && r != unicode.ReplacementChar:
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
