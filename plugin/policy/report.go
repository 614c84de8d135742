package policy

import "strings"

// A reportText is an error report as omnigraph 0.8 to 0.13 prints it for people.
type reportText struct {
	causes  []string
	open    bool // the text ends with the last cause: the report is whole only if the text is
	located bool // a blank line and the section Location follow, so that the report is whole
}

// report finds a report in one unbroken part of what a program printed:
//
//	Error:
//	   0: error sending request for url (http://…)
//	   1: client error (Connect)
//	   2: tcp connect error
//
//	Location: …
//
// The report starts at the last line that is "Error:", for earlier lines may
// echo a user's words. Its causes are numbered without a gap, a line with six
// or more leading spaces continues the one before it, and a blank line, or the
// text's end, ends them. Anything else is no report: uncertain means unrecognised.
// started says whether there is an "Error:" line at all.
func report(part string) (r reportText, started bool) {
	i := lastErrorLine(part)
	if i < 0 {
		return r, false
	}
	_, rest, more := strings.Cut(part[i:], "\n")
	for more && rest != "" {
		var line string
		line, rest, more = strings.Cut(rest, "\n")
		text, isCause := causeLine(line, len(r.causes))
		switch {
		case line == "":
			r.located = strings.HasPrefix(rest, "Location:")
			return r, true
		case isCause:
			r.causes = append(r.causes, text)
		case len(r.causes) > 0 && strings.HasPrefix(line, "      "):
			r.causes[len(r.causes)-1] += "\n" + line
		default:
			return reportText{}, true
		}
	}
	r.open = true
	return r, true
}

// lastErrorLine is where the last line that is "Error:" and spaces starts.
func lastErrorLine(part string) int {
	const title = "Error:"
	last := -1
	for from := 0; ; {
		i := strings.Index(part[from:], title)
		if i < 0 {
			return last
		}
		i += from
		from = i + len(title)
		if i == 0 || part[i-1] == '\n' {
			line, _, _ := strings.Cut(part[from:], "\n")
			if strings.Trim(line, " ") == "" {
				last = i
			}
		}
	}
}

// causeLine is the text of a line that is cause n, "%4d: text".
func causeLine(line string, n int) (text string, ok bool) {
	const width = 4
	if len(line) < width+2 || line[width:width+2] != ": " {
		return "", false
	}
	number := []byte("    ")
	for i, left := width-1, n; i >= 0 && (left > 0 || i == width-1); i-- {
		number[i] = byte('0' + left%10)
		left /= 10
	}
	return line[width+2:], line[:width] == string(number)
}

// plain takes out SGR sequences (colours) and the CR of a terminal's line ends.
// Nothing else is touched, and nothing else ends a line.
func plain(s string) string {
	if strings.IndexByte(s, '\x1b') < 0 && (strings.IndexByte(s, '\r') < 0 || !strings.Contains(s, "\r\n")) {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		if n := sgr(s[i:]); n > 0 {
			i += n
			continue
		}
		// Colours are taken out first: one may stand between CR and LF.
		if last := len(out) - 1; s[i] == '\n' && last >= 0 && out[last] == '\r' {
			out = out[:last]
		}
		out = append(out, s[i])
		i++
	}
	return string(out)
}

// sgr is the length of the sequence ESC [ parameters m at the start of s, or 0.
func sgr(s string) int {
	if !strings.HasPrefix(s, "\x1b[") {
		return 0
	}
	for i := 2; i < len(s); i++ {
		switch c := s[i]; {
		case c == 'm':
			return i + 1
		case c != ';' && c != ':' && (c < '0' || c > '9'):
			return 0
		}
	}
	return 0
}

// lower folds ASCII letters only: what a byte means must not depend on a
// locale or a Unicode version.
func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
