package policy

import "strings"

// report reads the last part that has an "Error:" line, and says whether there
// is one. Only where the account is read may the text end with the last cause.
func (v *view) report(parts []string) bool {
	for i := len(parts) - 1; i >= 0; i-- {
		r, started := report(parts[i])
		if !started {
			continue
		}
		if i < len(parts)-1 || r.open && !v.account {
			r.causes = nil // the last report, or its end, may be in what was cut out
		}
		if len(r.causes) > 0 {
			v.form, v.whole = FormReport, r.located
			v.causes = make([]string, len(r.causes))
			for i, c := range r.causes {
				v.causes[i] = lower(c)
			}
			v.message = v.causes[0]
			v.excerpt = r.causes
		}
		return true
	}
	return false
}

// ending reads how omnigraph 0.13 ends, after its message: perhaps a line
// "HTTP <status>", perhaps a last line "command_outcome: {…}". ended says that
// there was one of them. What ends so is no report, however much of one the
// message may quote.
func (v *view) ending(part string) (f said, ended bool) {
	before, line := cutLast(strings.TrimRight(part, "\n"))
	if object, ok := strings.CutPrefix(line, outcomeLine); ok {
		ended = f.parse(object) != nil
		_, line = cutLast(before)
	}
	if n, ok := statusLine(line); ok {
		ended = true
		v.setStatus(n)
	}
	return f, ended
}

// statusLine reads a line "HTTP <status>".
func statusLine(line string) (status int64, ok bool) {
	digits, ok := strings.CutPrefix(line, "HTTP ")
	if !ok || len(digits) != 3 {
		return 0, false
	}
	return digitsOnly(digits)
}

// setStatus notes what the program says, where the host does not know better.
func (v *view) setStatus(n int64) {
	if v.status == 0 {
		v.status = n
	}
}

func firstLine(part string) string {
	line, _, _ := strings.Cut(strings.TrimLeft(lower(part), "\n"), "\n")
	return line
}
