package policy

import (
	"strings"
	"unicode"

	"outlast/abi"
	"outlast/abi/strictjson"
)

// view is a result as the rules look at it. Texts are plain and in lower case,
// but for excerpt.
type view struct {
	result   *abi.Result
	colours  bool     // are left in what is searched and shown
	anywhere []string // parts that are searched one by one, never joined
	shown    []string
	message  string
	causes   []string
	status   int64 // 0: none
	sent     abi.Sent
	effects  abi.Effects // as a parsed field says; "": nothing
	excerpt  []string    // of what it said, for people; to be joined
}

func newView(r *abi.Result) *view { return viewOf(r, false) }

// viewOf is the view of a policy that may keep colours.
func viewOf(r *abi.Result, colours bool) *view {
	v := &view{result: r, colours: colours}
	if r.HTTPStatus != nil {
		v.status = *r.HTTPStatus
	}
	var f fields
	switch {
	case r.IsProcess() || r.Stderr != (abi.Text{}) || r.Stdout != (abi.Text{}):
		f = v.process()
	default:
		f = v.http()
	}
	v.judge(f)
	return v
}

// fields are what a program said in a parsed form about its request.
type fields struct {
	effects    string
	dispatched *bool
}

// process looks at stderr, or, where that is blank, at the JSON error object
// that stdout may be. What a command prints as its own data is never matched.
func (v *view) process() fields {
	parts, searched := v.lines(v.result.Stderr)
	if !blank(searched) {
		return v.stderr(parts, searched)
	}
	if v.result.Stdout.Cut {
		return fields{}
	}
	return v.errorObject(v.result.Stdout.Head)
}

func (v *view) stderr(parts, searched []string) fields {
	v.text(parts, searched)
	f, ended := v.ending(parts[len(parts)-1])
	if ended || !v.report(parts) {
		v.message, _, _ = strings.Cut(strings.TrimLeft(lower(parts[0]), "\n"), "\n")
	}
	return f
}

// report reads the last part that has an "Error:" line, and says whether there
// is one.
func (v *view) report(parts []string) bool {
	for i := len(parts) - 1; i >= 0; i-- {
		causes, started := report(parts[i])
		if !started {
			continue
		}
		if i < len(parts)-1 {
			causes = nil // the last report may be in what was cut out
		}
		if len(causes) > 0 {
			v.causes = make([]string, len(causes))
			for i, c := range causes {
				v.causes[i] = lower(c)
			}
			v.message = v.causes[0]
			v.excerpt = causes
		}
		return true
	}
	return false
}

// ending reads how omnigraph 0.13 ends, after its message: perhaps a line
// "HTTP <status>", perhaps a last line "command_outcome: {…}". ended says that
// there was one of them. What ends so is no report, however much of one the
// message may quote.
func (v *view) ending(part string) (f fields, ended bool) {
	before, line := cutLast(strings.TrimRight(part, "\n"))
	if object, ok := strings.CutPrefix(line, "command_outcome: "); ok {
		ended = f.parse(object) != nil
		_, line = cutLast(before)
	}
	if digits, ok := strings.CutPrefix(line, "HTTP "); ok && len(digits) == 3 {
		if n, whole := digitsOnly(digits); whole {
			ended = true
			if v.status == 0 {
				v.status = n
			}
		}
	}
	return f, ended
}

func cutLast(s string) (before, line string) {
	i := strings.LastIndexByte(s, '\n')
	if i < 0 {
		return "", s
	}
	return s[:i], s[i+1:]
}

func digitsOnly(s string) (n int64, ok bool) {
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int64(c-'0')
	}
	return n, s != ""
}

func (v *view) http() fields {
	parts, searched := v.lines(v.result.Message)
	if !v.result.Message.Cut {
		if f, ok := v.object(v.result.Message.Head); ok {
			v.shown = v.anywhere // an HTTP client shows the whole message
			return f
		}
	}
	v.text(parts, searched)
	v.message = lower(parts[0])
	return fields{}
}

// text makes searched both what is searched and what is shown.
func (v *view) text(parts, searched []string) {
	for _, p := range searched {
		v.anywhere = append(v.anywhere, lower(p))
	}
	v.shown = v.anywhere
	v.excerpt = parts[len(parts)-1:]
}

func (v *view) errorObject(text string) fields {
	f, _ := v.object(text)
	return f
}

// object reads a text that is one JSON object with a string called error.
func (v *view) object(text string) (fields, bool) {
	var f fields
	m := f.parse(text)
	if m == nil {
		return fields{}, false
	}
	message := m.Value("error")
	if message.Kind != strictjson.String {
		return fields{}, false
	}
	v.anywhere = []string{lower(text)}
	v.message = lower(message.Text)
	v.shown = []string{v.message}
	if code := m.Value("code"); code.Kind == strictjson.String {
		v.shown = append(v.shown, lower(code.Text))
	}
	v.excerpt = []string{message.Text}
	if n := m.Value("http_status"); n.Kind == strictjson.Number && v.status == 0 {
		v.status, _ = strictjson.Integer(n.Text)
	}
	return f, true
}

// parse reads an object's own members, never those of an object inside it, and
// gives nil where text is no object.
func (f *fields) parse(text string) *strictjson.Members {
	limits := strictjson.Limits{Bytes: abi.MaxTextBytes, Depth: abi.MaxDepth}
	value, err := strictjson.Parse(text, limits)
	if err != nil || value.Kind != strictjson.Object {
		return nil
	}
	m := new(strictjson.Faults).Members(value, "")
	if effects := m.Value("effects"); effects.Kind == strictjson.String {
		f.effects = effects.Text
	}
	if sent := m.Value("request_dispatched"); sent.Kind == strictjson.Bool {
		f.dispatched = &sent.Truth
	}
	return m
}

// judge weighs what the host, the parsed fields and a status say of whether the
// request was sent and had effects. Where they disagree, the more careful wins.
func (v *view) judge(f fields) {
	yes := v.result.Sent == abi.SentYes || f.dispatched != nil && *f.dispatched
	no := v.result.Sent == abi.SentNo || f.dispatched != nil && !*f.dispatched
	switch {
	case yes:
		v.sent = abi.SentYes
	case no:
		v.sent = abi.SentNo
	default:
		v.sent = abi.SentUnknown
	}
	switch {
	case f.effects != "" && f.effects != string(abi.EffectsNone):
		v.effects = abi.EffectsUnknown
	case f.effects != "" || v.sent == abi.SentNo:
		v.effects = abi.EffectsNone
	}
}

// lines is a text's parts, plain and as they are searched.
func (v *view) lines(t abi.Text) (parts, searched []string) {
	whole := wholeLines(t)
	for _, p := range whole {
		parts = append(parts, plain(p))
	}
	if v.colours {
		return parts, whole
	}
	return parts, parts
}

// wholeLines is a text's parts without the lines that were cut in two.
func wholeLines(t abi.Text) []string {
	if !t.Cut {
		return []string{t.Head}
	}
	head := t.Head[:strings.LastIndexByte(t.Head, '\n')+1]
	_, tail, _ := strings.Cut(t.Tail, "\n")
	return []string{head, tail}
}

// blank says whether there is only white space; the information separators
// count as such, as they do for Python's clients.
func blank(parts []string) bool {
	for _, p := range parts {
		if strings.ContainsFunc(p, func(r rune) bool { return !unicode.IsSpace(r) && (r < 0x1c || r > 0x1f) }) {
			return false
		}
	}
	return true
}

// ErrorText is what an outcome quotes of a result, for hosts that must say it
// themselves: a call that is cancelled while it waits.
func ErrorText(r *abi.Result) string { return newView(r).errorText() }

// errorText is what an outcome quotes of the last attempt: at most
// abi.MaxErrorBytes, cut at a character's end.
func (v *view) errorText() string {
	s := strings.TrimSpace(plain(strings.Join(v.excerpt, ": ")))
	if len(s) <= abi.MaxErrorBytes {
		return s
	}
	end := abi.MaxErrorBytes
	for end > 0 && s[end]&0xc0 == 0x80 {
		end--
	}
	return s[:end]
}
