package policy

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"outlast/abi"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// printed is a report as omnigraph 0.8 to 0.11 prints it, without colours: a
// cause's further lines are indented by six more columns.
func printed(causes ...string) string {
	var b strings.Builder
	b.WriteString("Error: \n")
	for i, c := range causes {
		n := number(int64(i))
		b.WriteString(strings.Repeat(" ", 4-len(n)) + n + ": " + strings.ReplaceAll(c, "\n", "\n      ") + "\n")
	}
	b.WriteString("\nLocation:\n   crates/omnigraph-cli/src/helpers.rs:523\n\n" +
		"Backtrace omitted. Run with RUST_BACKTRACE=1 environment variable to display it.\n" +
		"Run with RUST_BACKTRACE=full to include source snippets.\n")
	return b.String()
}

func TestReport(t *testing.T) {
	many := make([]string, 12)
	for i := range many {
		many[i] = "cause " + number(int64(i))
	}
	for _, c := range []struct {
		name, text string
		causes     []string
		started    bool
	}{
		{"as it is printed", printed("a", "b", "c"), []string{"a", "b", "c"}, true},
		{"one cause", printed("a"), []string{"a"}, true},
		{"twelve causes", printed(many...), many, true},
		{"a cause of several lines", printed("a\nb\n\nc", "d"), []string{"a\n      b\n      \n      c", "d"}, true},
		{"no spaces after the title", "Error:\n   0: a\n\n", []string{"a"}, true},
		{"many spaces after the title", "Error:     \n   0: a\n\n", []string{"a"}, true},
		{"an empty cause", "Error: \n   0: \n\n", []string{""}, true},
		{"text before it", "omnigraph load → http://h (served)\n" + printed("a"), []string{"a"}, true},
		{"a later report", printed("a") + printed("b"), []string{"b"}, true},
		{"a later title with nothing after it", printed("a") + "Error:", nil, true},
		{"a later title before another line", printed("a") + "Error: \nHTTP 503\n", nil, true},
		{"a title that is no title", printed("a") + "Error: more\n", []string{"a"}, true},
		{"no title", "   0: a\n   1: b\n\n", nil, false},
		{"nothing", "", nil, false},
		{"a title inside of a line", "x Error: \n   0: a\n\n", nil, false},
		{"an indented title", " Error: \n   0: a\n\n", nil, false},
		{"a title with a tab", "Error:\t\n   0: a\n\n", nil, false},
		{"a title in capitals", "ERROR: \n   0: a\n\n", nil, false},
		{"a title with a CR", "Error: \r   0: a\n\n", nil, false},
		{"no causes", "Error: \n\n   0: a\n", nil, true},
		{"it ends in the list", "Error: \n   0: a\n   1: b\n", nil, true},
		{"it ends in a line", "Error: \n   0: a\n   1: b", nil, true},
		{"it starts at 1", "Error: \n   1: a\n\n", nil, true},
		{"a gap", "Error: \n   0: a\n   2: c\n\n", nil, true},
		{"a number twice", "Error: \n   0: a\n   0: b\n\n", nil, true},
		{"a number with a zero", "Error: \n   0: a\n  01: b\n\n", nil, true},
		{"two spaces", "Error: \n  0: a\n\n", nil, true},
		{"four spaces", "Error: \n    0: a\n\n", nil, true},
		{"no space after the colon", "Error: \n   0:a\n\n", nil, true},
		{"another line in the list", "Error: \n   0: a\nLocation: x\n\n", nil, true},
		{"five spaces continue nothing", "Error: \n   0: a\n     b\n\n", nil, true},
		{"a continuation before any cause", "Error: \n      a\n   0: b\n\n", nil, true},
		{"a numbered continuation", "Error: \n   0: a\n         1: client error (Connect)\n\n", []string{"a\n         1: client error (Connect)"}, true},
		{"a blank line with spaces", "Error: \n   0: a\n    \n\n", nil, true},
		{"a CR in a cause", "Error: \n   0: a\r   1: b\n\n", []string{"a\r   1: b"}, true},
		{"a vertical tab", "Error: \n   0: a\v   1: b\n\n", []string{"a\v   1: b"}, true},
		{"a form feed", "Error: \n   0: a\f   1: b\n\n", []string{"a\f   1: b"}, true},
		{"a next-line character", "Error: \n   0: a\u0085   1: b\n\n", []string{"a\u0085   1: b"}, true},
		{"a line separator", "Error: \n   0: a\u2028   1: b\n\n", []string{"a\u2028   1: b"}, true},
		{"a paragraph separator", "Error: \n   0: a\u2029   1: b\n\n", []string{"a\u2029   1: b"}, true},
		{"a title after a line separator", "x\u2028Error: \n   0: a\n\n", nil, false},
		{"a NUL", "Error: \n   0: a\x00   1: b\n\n", []string{"a\x00   1: b"}, true},
	} {
		r, started := report(c.text)
		causes := r.causes
		if r.open {
			causes = nil
		}
		if !cmp.Equal(c.causes, causes) || started != c.started {
			t.Errorf("%s: got %q, %t; want %q, %t", c.name, causes, started, c.causes, c.started)
		}
	}
}

func TestPlain(t *testing.T) {
	for s, want := range map[string]string{
		"":                                "",
		"a\nb":                            "a\nb",
		"a\r\nb\r\n":                      "a\nb\n",
		"a\rb\r":                          "a\rb\r",
		"a\r\r\nb":                        "a\r\nb",
		"\r\n":                            "\n",
		"\x1b[91mred\x1b[0m":              "red",
		"\x1b[mx\x1b[1;38:5:9mx":          "xx",
		"a\r\x1b[0m\nb":                   "a\nb",
		"a\x1b[0m\r\nb":                   "a\nb",
		"\x1b[1\x1b[0m1m":                 "\x1b[11m",
		"\x1b[1":                          "\x1b[1",
		"\x1b":                            "\x1b",
		"\x1b[2J\x1b[1A\x1b]0;t\x07\x1bc": "\x1b[2J\x1b[1A\x1b]0;t\x07\x1bc",
		"\x1b[?25m\x1b[ 1m":               "\x1b[?25m\x1b[ 1m",
		"\u0085\v\u2028":                  "\u0085\v\u2028",
	} {
		if got := plain(s); got != want {
			t.Errorf("plain(%q) = %q, want %q", s, got, want)
		}
	}
}

// Only ASCII letters are folded: what a byte means must not depend on a locale.
func TestLower(t *testing.T) {
	for s, want := range map[string]string{
		"": "", "abc": "abc", "ABC xyz": "abc xyz", "aBc": "abc", "@[`{": "@[`{", "ÄÉ": "ÄÉ", "\u212a": "\u212a", "İIıi": "İiıi", "\xffA": "\xffa",
	} {
		if got := lower(s); got != want {
			t.Errorf("lower(%q) = %q, want %q", s, got, want)
		}
	}
}

// pieces draws a text in pieces between which a colour may be set.
func pieces(t *rapid.T) []string {
	return rapid.SliceOfN(rapid.OneOf(
		rapid.SampledFrom([]string{
			"\n", "\r", "\r\n", " ", "Error:", "Error: \n", "   0: ", "   1: ", "   2: ", "\n\n", "      ", "client error (Connect)",
			"error sending request for url (http://h)", "tcp connect error", "Location:", "HTTP 503", "command_outcome: {\"effects\":\"none\"}", "\v", "\u2028",
		}),
		rapid.StringN(0, 8, -1).Filter(func(s string) bool { return !strings.Contains(s, "\x1b") }),
	), 0, 25).Draw(t, "pieces")
}

// read is what a text is read as.
type read struct {
	Message, Excerpt string
	Causes, Anywhere []string
	Status           int64
	Effects          abi.Effects
}

func readStderr(text abi.Text) read {
	one := int64(1)
	v := newView(&abi.Result{ExitCode: &one, Stderr: text})
	return read{v.message, strings.TrimSpace(strings.Join(v.excerpt, ": ")), v.causes, v.anywhere, v.status, v.effects}
}

// TestLowerLooksAtEachByte: every byte at every place in a word and behind the last one.
func TestLowerLooksAtEachByte(t *testing.T) {
	for lead := range 17 {
		for c := range 256 {
			text := []byte(strings.Repeat("x", lead) + "?" + strings.Repeat("[@Z", 3))
			text[lead] = byte(c)
			want := bytes.Clone(text)
			for i, c := range want {
				if c >= 'A' && c <= 'Z' {
					want[i] += 'a' - 'A'
				}
			}
			if got := lower(string(text)); got != string(want) {
				t.Fatalf("lower(%q) = %q, want %q", text, got, want)
			}
		}
	}
}

// TestLastErrorLine compares with a search that looks at each line.
func TestLastErrorLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{"Error:", "Error:  ", " Error:", "Error:Error:", "Error: x", "", "x", "Error:\t", "Err"}), 0, 12).Draw(t, "lines")
		want, at := -1, 0
		for _, line := range lines {
			if strings.HasPrefix(line, "Error:") && strings.Trim(line[len("Error:"):], " ") == "" {
				want = at
			}
			at += len(line) + 1
		}
		if got := lastErrorLine(strings.Join(lines, "\n")); got != want {
			t.Fatalf("%q: at %d, want %d", lines, got, want)
		}
	})
}

// Wherever colours are set, the text is read the same.
func TestReadingDoesNotDependOnColours(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bare := pieces(t)
		var coloured []string
		for _, p := range bare {
			for i := range len(p) {
				if rapid.IntRange(0, 9).Draw(t, "colour") == 0 {
					coloured = append(coloured, rapid.SampledFrom([]string{"\x1b[0m", "\x1b[91m", "\x1b[m", "\x1b[1;31m", "\x1b[38:2:1:2:3m"}).Draw(t, "sgr"))
				}
				coloured = append(coloured, p[i:i+1])
			}
		}
		plainText, colouredText := strings.Join(bare, ""), strings.Join(coloured, "")
		if diff := cmp.Diff(readStderr(abi.Text{Head: plainText}), readStderr(abi.Text{Head: colouredText})); diff != "" {
			t.Fatalf("%q is read otherwise than %q:\n%s", colouredText, plainText, diff)
		}
	})
}

// A terminal's line ends are read as a pipe's.
func TestReadingDoesNotDependOnTheLineEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.ReplaceAll(strings.Join(pieces(t), ""), "\r", "")
		terminal := strings.ReplaceAll(text, "\n", "\r\n")
		if diff := cmp.Diff(readStderr(abi.Text{Head: text}), readStderr(abi.Text{Head: terminal})); diff != "" {
			t.Fatalf("%q is read otherwise than %q:\n%s", terminal, text, diff)
		}
	})
}

// Nothing but LF ends a line, whatever a reader in another language does.
func TestOnlyLFEndsALine(t *testing.T) {
	whole := printed("error sending request for url (http://h)", "client error (Connect)", "tcp connect error")
	for _, end := range []string{"\r", "\v", "\f", "\x1c", "\x1d", "\x1e", "\u0085", "\u2028", "\u2029"} {
		if got := readStderr(abi.Text{Head: strings.ReplaceAll(whole, "\n", end)}); got.Causes != nil {
			t.Errorf("%q ends a line: %q", end, got.Causes)
		}
		inside := strings.Replace(whole, "\n   1:", end+"   1:", 1)
		if got := readStderr(abi.Text{Head: inside}); len(got.Causes) > 1 && got.Causes[1] == "client error (connect)" {
			t.Errorf("%q ends a cause: %q", end, got.Causes)
		}
	}
}

// A report that is cut is none, unless it is whole in what is left, and nothing
// can have followed it.
func TestCutReports(t *testing.T) {
	whole := printed("a", "b")
	list := whole[:strings.Index(whole, "Location")]
	noise := strings.Repeat("noise\n", 10)
	for _, c := range []struct {
		name       string
		head, tail string
		causes     []string
	}{
		{"whole in the tail", noise, noise + whole, []string{"a", "b"}},
		{"the tail's first line is cut, whatever it says", noise, whole, nil},
		{"and that line is lost", noise, "\n" + whole, []string{"a", "b"}},
		{"whole in the head, where a later one may be cut out", whole + noise, noise, nil},
		{"in the head, and its end in the tail", list, whole[len(list):], nil},
		{"in both, of which the last counts", noise + printed("x"), noise + whole, []string{"a", "b"}},
		{"in both, of which the last is cut", whole + noise, noise + "Error: \n   0: a\n", nil},
		{"split between the parts", noise + "Error: \n   0: a\n", "   1: b\n\n" + noise, nil},
		{"split in a line", noise + "Error: \n   0: a\n   1: cli", "ent error\n\n" + noise, nil},
		{"only half a line left", "Error: \n   0: a", "b", nil},
		{"nothing left", "", "", nil},
	} {
		got := readStderr(abi.Text{Head: c.head, Tail: c.tail, Cut: true})
		if !slices.Equal(got.Causes, c.causes) {
			t.Errorf("%s: causes %q, want %q", c.name, got.Causes, c.causes)
		}
	}
}

// Cut anywhere, a text never shows causes that the whole does not have.
func TestCuttingInventsNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(pieces(t), "") + printed("a\nb", "c") + strings.Join(pieces(t), "")
		i := rapid.IntRange(0, len(text)).Draw(t, "end of the head")
		j := rapid.IntRange(i, len(text)).Draw(t, "start of the tail")
		got := readStderr(abi.Text{Head: text[:i], Tail: text[j:], Cut: true})
		if want := readStderr(abi.Text{Head: text}); got.Causes != nil && !slices.Equal(got.Causes, want.Causes) {
			t.Fatalf("%q and %q have causes %q, the whole has %q", text[:i], text[j:], got.Causes, want.Causes)
		}
	})
}

// FuzzView: whatever a program prints can be read, and colours do not matter.
func FuzzView(f *testing.F) {
	f.Add(printed("error sending request for url (http://h)", "client error (Connect)", "tcp connect error"), "", false)
	f.Add("graph is loading\nHTTP 503\ncommand_outcome: {\"effects\":\"none\"}\n", `{"error":"x"}`, true)
	f.Add("Error:\r\n   0: \x1b[91ma\x1b[0m\r\n\r\n", "", true)
	f.Add(" \n", `{"error":"graph is loading","http_status":503,"request_dispatched":true}`, false)
	f.Fuzz(func(t *testing.T, stderr, stdout string, cut bool) {
		one := int64(1)
		result := abi.Result{ExitCode: &one, Stderr: abi.Text{Head: stderr}, Stdout: abi.Text{Head: stdout}}
		if cut {
			result.Stderr = abi.Text{Head: stderr[:len(stderr)/2], Tail: stderr[len(stderr)/2:], Cut: true}
		}
		for _, name := range Names() {
			doc, _ := BuiltIn(name)
			v := doc.view(&abi.Call{}, &result)
			if len(v.errorText()) > abi.MaxErrorBytes {
				t.Fatalf("an error text of %d bytes", len(v.errorText()))
			}
			doc.recognise(&abi.Call{}, v)
		}
		if !cut && !strings.Contains(stderr, "\x1b") {
			if diff := cmp.Diff(readStderr(abi.Text{Head: stderr}), readStderr(abi.Text{Head: "\x1b[0m" + stderr + "\x1b[0m"})); diff != "" {
				t.Fatalf("a colour around %q:\n%s", stderr, diff)
			}
		}
	})
}
