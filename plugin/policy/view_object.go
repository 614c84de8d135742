package policy

import (
	"outlast/abi"
	"outlast/abi/strictjson"
)

func (v *view) http() said {
	parts, searched := v.lines(v.result.Message)
	if !v.result.Message.Cut {
		if f, ok := v.object(v.result.Message.Head); ok {
			v.shown = v.anywhere // an HTTP client shows the whole message
			return f
		}
	}
	v.text(parts, searched)
	v.message = lower(parts[0])
	return said{}
}

// text makes searched both what is searched and what is shown.
func (v *view) text(parts, searched []string) {
	for _, p := range searched {
		v.anywhere = append(v.anywhere, lower(p))
	}
	v.shown = v.anywhere
	v.excerpt = parts[len(parts)-1:]
}

// object reads a text that is one JSON object with a string called error.
func (v *view) object(text string) (said, bool) {
	var f said
	m := f.parse(text)
	if m == nil {
		return said{}, false
	}
	message := m.Value("error")
	if message.Kind != strictjson.String {
		return said{}, false
	}
	v.form = FormObject
	v.anywhere = []string{lower(text)}
	v.message = lower(message.Text)
	v.shown = []string{v.message}
	if code := m.Value("code"); code.Kind == strictjson.String {
		v.code = lower(code.Text)
		v.shown = append(v.shown, v.code)
	}
	v.excerpt = []string{message.Text}
	if n := m.Value("http_status"); n.Kind == strictjson.Number && v.status == 0 {
		v.status, _ = strictjson.Integer(n.Text)
	}
	if v.account {
		v.objectAccount(&f, m)
	}
	return f, true
}

// parse reads an object's own members, never those of an object inside it, and
// gives nil where text is no object.
func (f *said) parse(text string) *strictjson.Members {
	value, ok := parseObject(text)
	if !ok {
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

func parseObject(text string) (strictjson.Value, bool) {
	limits := strictjson.Limits{Bytes: abi.MaxTextBytes, Depth: abi.MaxDepth}
	value, err := strictjson.Parse(text, limits)
	return value, err == nil && value.Kind == strictjson.Object
}
