package policy

import (
	"strings"

	"outlast/abi"
	"outlast/abi/strictjson"
)

// view is a result as the rules look at it. Texts are plain and in lower case,
// but for excerpt.
type view struct {
	result   *abi.Result
	anywhere []string // parts that are searched one by one, never joined
	shown    []string
	message  string
	causes   []string
	status   int64 // 0: none
	sent     abi.Sent
	effects  abi.Effects // as a parsed field says; "": nothing
	excerpt  string      // of what it said, for people
}

func newView(r *abi.Result) *view {
	v := &view{result: r}
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
	parts := wholeLines(v.result.Stderr)
	if !blank(parts) {
		return v.stderr(parts)
	}
	if v.result.Stdout.Cut {
		return fields{}
	}
	return v.errorObject(v.result.Stdout.Head)
}

func (v *view) stderr(parts []string) fields {
	v.text(parts)
	for i := len(parts) - 1; i >= 0; i-- {
		causes, started := report(parts[i])
		if !started {
			continue
		}
		for _, c := range causes {
			v.causes = append(v.causes, lower(c))
		}
		if len(causes) > 0 {
			v.message = v.causes[0]
			v.excerpt = strings.Join(causes, ": ")
		}
		return fields{}
	}
	return v.lines(parts)
}

// lines reads what omnigraph 0.13 prints: a line of message, perhaps a line
// "HTTP <status>", perhaps a last line "command_outcome: {…}".
func (v *view) lines(parts []string) fields {
	v.message, _, _ = strings.Cut(strings.TrimLeft(lower(parts[0]), "\n"), "\n")
	last := strings.TrimRight(parts[len(parts)-1], "\n")
	var f fields
	before, line := cutLast(last)
	if object, ok := strings.CutPrefix(line, "command_outcome: "); ok {
		f.parse(object)
		_, line = cutLast(before)
	}
	if digits, ok := strings.CutPrefix(line, "HTTP "); ok && len(digits) == 3 && v.status == 0 {
		if n, whole := digitsOnly(digits); whole {
			v.status = n
		}
	}
	return f
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
	parts := wholeLines(v.result.Message)
	if !v.result.Message.Cut {
		if f, ok := v.object(v.result.Message.Head); ok {
			return f
		}
	}
	v.text(parts)
	v.message = v.shown[0]
	return fields{}
}

// text makes parts both what is searched and what is shown.
func (v *view) text(parts []string) {
	for _, p := range parts {
		v.anywhere = append(v.anywhere, lower(p))
	}
	v.shown = v.anywhere
	v.excerpt = strings.TrimSpace(parts[0])
	if len(parts) > 1 {
		v.excerpt = strings.TrimSpace(parts[1])
	}
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
	v.excerpt = message.Text
	if n := m.Value("http_status"); n.Kind == strictjson.Number && v.status == 0 {
		v.status, _ = strictjson.Integer(n.Text)
	}
	return f, true
}

// parse reads an object's own members, never those of an object inside it, and
// gives nil where text is no object.
func (f *fields) parse(text string) *strictjson.Members {
	limits := strictjson.Limits{Bytes: abi.MaxTextBytes, Depth: abi.MaxDepth}
	value, err := strictjson.Parse(strings.TrimSpace(text), limits)
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

// wholeLines is a text's parts without the lines that were cut in two.
func wholeLines(t abi.Text) []string {
	if !t.Cut {
		return []string{plain(t.Head)}
	}
	head := t.Head[:strings.LastIndexByte(t.Head, '\n')+1]
	_, tail, _ := strings.Cut(t.Tail, "\n")
	return []string{plain(head), plain(tail)}
}

func blank(parts []string) bool {
	for _, p := range parts {
		if strings.TrimSpace(p) != "" {
			return false
		}
	}
	return true
}

// errorText is what an outcome quotes of the last attempt: at most
// abi.MaxErrorBytes, cut at a character's end.
func (v *view) errorText() string {
	s := strings.TrimSpace(v.excerpt)
	if len(s) <= abi.MaxErrorBytes {
		return s
	}
	end := abi.MaxErrorBytes
	for end > 0 && s[end]&0xc0 == 0x80 {
		end--
	}
	return s[:end]
}
