package policy

import (
	"strings"
	"testing"
	"unicode/utf8"

	"outlast/abi"

	"github.com/google/go-cmp/cmp"
)

func exited(code int64, stderr, stdout string) *abi.Result {
	return &abi.Result{ExitCode: &code, Stderr: abi.Text{Head: stderr}, Stdout: abi.Text{Head: stdout}}
}

func answered(status int64, message string) *abi.Result {
	return &abi.Result{HTTPStatus: &status, Message: abi.Text{Head: message}}
}

// What omnigraph 0.13 prints is a line of message, perhaps a status, perhaps
// what it knows of the outcome.
func TestViewOfLines(t *testing.T) {
	for _, c := range []struct {
		name, stderr string
		message      string
		status       int64
		effects      abi.Effects
		sent         abi.Sent
	}{
		{"a message", "Graph is Loading; wait\n", "graph is loading; wait", 0, "", abi.SentUnknown},
		{"without a line end", "graph is loading", "graph is loading", 0, "", abi.SentUnknown},
		{"blank lines before it", "\n\ngraph is loading\n", "graph is loading", 0, "", abi.SentUnknown},
		{"a status", "m\nHTTP 503\n", "m", 503, "", abi.SentUnknown},
		{"a status and blank lines", "m\nHTTP 503\n\n\n", "m", 503, "", abi.SentUnknown},
		{"an outcome", "m\ncommand_outcome: {\"effects\":\"none\"}\n", "m", 0, abi.EffectsNone, abi.SentUnknown},
		{"both", "m\nHTTP 409\ncommand_outcome: {\"execution\":\"unknown\",\"effects\":\"unknown\"}\n", "m", 409, abi.EffectsUnknown, abi.SentUnknown},
		{"a longer message", "m\nn\no\nHTTP 409\n", "m", 409, "", abi.SentUnknown},
		{"not sent", "m\ncommand_outcome: {\"request_dispatched\":false}\n", "m", 0, abi.EffectsNone, abi.SentNo},
		{"sent", "m\ncommand_outcome: {\"request_dispatched\":true}\n", "m", 0, "", abi.SentYes},
		{"sent, without effects", "m\ncommand_outcome: {\"request_dispatched\":true,\"effects\":\"none\"}\n", "m", 0, abi.EffectsNone, abi.SentYes},
		{"effects of another name are not none", "m\ncommand_outcome: {\"effects\":\"partial\"}\n", "m", 0, abi.EffectsUnknown, abi.SentUnknown},
		{"not sent, but with effects", "m\ncommand_outcome: {\"request_dispatched\":false,\"effects\":\"unknown\"}\n", "m", 0, abi.EffectsUnknown, abi.SentNo},
		{"members of members say nothing", "m\ncommand_outcome: {\"x\":{\"effects\":\"none\",\"request_dispatched\":false}}\n", "m", 0, "", abi.SentUnknown},
		{"other kinds say nothing", "m\ncommand_outcome: {\"effects\":null,\"request_dispatched\":\"false\"}\n", "m", 0, "", abi.SentUnknown},
		{"a repeated member says nothing", "m\ncommand_outcome: {\"effects\":\"unknown\",\"effects\":\"none\"}\n", "m", 0, "", abi.SentUnknown},
		{"an outcome that is no object", "m\ncommand_outcome: [\"effects\"]\n", "m", 0, "", abi.SentUnknown},
		{"an outcome that is not JSON", "m\ncommand_outcome: {effects: none}\n", "m", 0, "", abi.SentUnknown},
		{"an outcome that is not last", "m\ncommand_outcome: {\"effects\":\"none\"}\nmore\n", "m", 0, "", abi.SentUnknown},
		{"an outcome that does not start its line", "m command_outcome: {\"effects\":\"none\"}\n", `m command_outcome: {"effects":"none"}`, 0, "", abi.SentUnknown},
		{"an outcome in capitals", "m\nCommand_Outcome: {\"effects\":\"none\"}\n", "m", 0, "", abi.SentUnknown},
		{"a status that is not last", "m\nHTTP 503\nmore\n", "m", 0, "", abi.SentUnknown},
		{"a status in a line", "m HTTP 503\n", "m http 503", 0, "", abi.SentUnknown},
		{"a status of four digits", "m\nHTTP 5030\n", "m", 0, "", abi.SentUnknown},
		{"a status of letters", "m\nHTTP abc\n", "m", 0, "", abi.SentUnknown},
		{"a status with a sign", "m\nHTTP -50\n", "m", 0, "", abi.SentUnknown},
	} {
		v := newView(exited(1, c.stderr, `{"error":"stdout does not count"}`))
		if v.message != c.message || v.status != c.status || v.effects != c.effects || v.sent != c.sent {
			t.Errorf("%s: got %q, %d, %q, %q", c.name, v.message, v.status, v.effects, v.sent)
		}
	}
}

// What ends as 0.13 ends is no report of 0.11, even if its message quotes one.
func TestViewOfAQuotedReport(t *testing.T) {
	quoted := printed("error sending request for url (http://h)", "client error (Connect)", "tcp connect error")
	for _, end := range []string{"HTTP 500\n", "command_outcome: {\"effects\":\"unknown\"}\n", "HTTP 500\ncommand_outcome: {}\n"} {
		v := newView(exited(1, "the store failed\n"+quoted+end, ""))
		if v.causes != nil || v.message != "the store failed" {
			t.Errorf("%q: message %q, causes %q", end, v.message, v.causes)
		}
	}
}

func TestViewOfStdout(t *testing.T) {
	for _, c := range []struct {
		name, stderr, stdout string
		message              string
		status               int64
	}{
		{"an error object", "", `{"error": "Graph is loading", "http_status": 503}`, "graph is loading", 503},
		{"with white space around it", " \n", "\n {\"error\":\"m\"}\r\n\t", "m", 0},
		{"with an escape", "", `{"error":"\u0067raph"}`, "graph", 0},
		{"a status of null", "", `{"error":"m","http_status":null}`, "m", 0},
		{"stderr has something", "x", `{"error":"m"}`, "x", 0},
		{"stderr has other white space", "\u0085\u2028\x1c\x1f\v", `{"error":"m"}`, "m", 0},
		{"stderr has a colour only", "\x1b[0m\n", `{"error":"m"}`, "m", 0},
		{"an array", "", `[{"error":"m"}]`, "", 0},
		{"no string", "", `{"error":{"error":"m"}}`, "", 0},
		{"no error", "", `{"message":"m"}`, "", 0},
		{"an error inside", "", `{"data":{"error":"m"}}`, "", 0},
		{"two objects", "", "{\"error\":\"m\"}\n{\"error\":\"m\"}", "", 0},
		{"an object and more", "", `{"error":"m"} x`, "", 0},
		{"a repeated error", "", `{"error":"a","error":"m"}`, "", 0},
		{"in capitals", "", `{"Error":"m"}`, "", 0},
		{"plain text", "", "m", "", 0},
		{"other white space is data", "", "\u0085{\"error\":\"m\"}", "", 0},
	} {
		v := newView(exited(1, c.stderr, c.stdout))
		if v.message != c.message || v.status != c.status {
			t.Errorf("%s: got %q, %d", c.name, v.message, v.status)
		}
		if c.message == "" && len(v.anywhere) > 0 {
			t.Errorf("%s: %q is searched", c.name, v.anywhere)
		}
	}
	cut := exited(1, "", "")
	cut.Stdout = abi.Text{Head: `{"error":"m"}`, Cut: true}
	if v := newView(cut); v.message != "" {
		t.Errorf("a cut stdout: %q", v.message)
	}
}

func TestViewOfHTTP(t *testing.T) {
	v := newView(answered(503, "Service\nUnavailable"))
	if v.message != "service\nunavailable" || v.status != 503 || v.causes != nil {
		t.Errorf("a text: %q, %d, %q", v.message, v.status, v.causes)
	}
	v = newView(answered(500, `{"error":"Down","http_status":404,"effects":"none"}`))
	if v.message != "down" || v.status != 500 || v.effects != abi.EffectsNone {
		t.Errorf("an object: %q, %d, %q", v.message, v.status, v.effects)
	}
	v = newView(answered(500, printed("error sending request for url (u)", "client error (Connect)", "tcp connect error")))
	if v.causes != nil {
		t.Errorf("an HTTP message has causes %q", v.causes)
	}
	v = newView(&abi.Result{Message: abi.Text{Head: "cut in the middle of", Tail: "a line\nlast", Cut: true}})
	if v.message != "" || !cmp.Equal(v.anywhere, []string{"cut in the middle of", "a line\nlast"}) {
		t.Errorf("a cut text: %q, %q", v.message, v.anywhere)
	}
}

// A policy may search texts as they came, colours and all: then words that a
// colour is set in are not found, as a client that does not know colours fails
// to find them. Reports, messages and what people read are plain all the same.
func TestViewWithColours(t *testing.T) {
	r := exited(1, "first tcp \x1b[91mconnect\x1b[0m error\r\nsecond\nHTTP 503\n", "")
	v := viewOf(r, reading{colours: true})
	if v.anywhere[0] != lower(r.Stderr.Head) || v.message != "first tcp connect error" || v.status != 503 {
		t.Errorf("got %q, %q, %d", v.anywhere, v.message, v.status)
	}
	if got := v.errorText(); got != "first tcp connect error\nsecond\nHTTP 503" {
		t.Errorf("people read %q", got)
	}
	red := exited(1, "\x1b[91m"+strings.ReplaceAll(printed("a", "b"), "\n", "\x1b[0m\n"), "")
	if v := viewOf(red, reading{colours: true}); !cmp.Equal(v.causes, []string{"a", "b"}) {
		t.Errorf("causes %q", v.causes)
	}
	if v := viewOf(exited(1, "\x1b[0m", `{"error":"m"}`), reading{colours: true}); v.message == "m" {
		t.Error("a colour on stderr is nothing")
	}
}

// What is shown of an error object on stdout is its error and its code.
func TestViewShown(t *testing.T) {
	for stdout, want := range map[string][]string{
		`{"error":"An Error","x":"y"}`:         {"an error"},
		`{"error":"An Error","code":"A_Code"}`: {"an error", "a_code"},
		`{"error":"An Error","code":5}`:        {"an error"},
	} {
		v := newView(exited(1, "", stdout))
		if !cmp.Equal(v.shown, want) || !cmp.Equal(v.anywhere, []string{lower(stdout)}) {
			t.Errorf("%s: %q, %q", stdout, v.shown, v.anywhere)
		}
	}
}

// The more careful of the host's word and the program's wins.
func TestViewWeighsWhatWasSent(t *testing.T) {
	for _, c := range []struct {
		host    abi.Sent
		outcome string
		sent    abi.Sent
		effects abi.Effects
	}{
		{abi.SentUnknown, `{}`, abi.SentUnknown, ""},
		{"", `{}`, abi.SentUnknown, ""},
		{abi.SentNo, `{}`, abi.SentNo, abi.EffectsNone},
		{abi.SentYes, `{}`, abi.SentYes, ""},
		{abi.SentNo, `{"request_dispatched":true}`, abi.SentYes, ""},
		{abi.SentYes, `{"request_dispatched":false}`, abi.SentYes, ""},
		{abi.SentNo, `{"effects":"unknown"}`, abi.SentNo, abi.EffectsUnknown},
		{abi.SentYes, `{"effects":"none"}`, abi.SentYes, abi.EffectsNone},
	} {
		r := exited(1, "m\ncommand_outcome: "+c.outcome+"\n", "")
		r.Sent = c.host
		if v := newView(r); v.sent != c.sent || v.effects != c.effects {
			t.Errorf("the host says %q, the program %s: got %q, %q", c.host, c.outcome, v.sent, v.effects)
		}
	}
}

func TestErrorText(t *testing.T) {
	for _, c := range []struct {
		name   string
		result *abi.Result
		want   string
	}{
		{"a report", exited(1, "omnigraph load → http://h (served)\n"+printed("First", "Second\nline"), ""), "First: Second\n      line"},
		{"lines", exited(1, "\x1b[1mMessage\x1b[0m\r\nHTTP 503\r\n", ""), "Message\nHTTP 503"},
		{"an error object", exited(1, "", `{"error":"The Error","code":"x"}`), "The Error"},
		{"data is not quoted", exited(1, "", "rows of data"), ""},
		{"HTTP", answered(500, " It broke. "), "It broke."},
		{"a broken report", exited(1, "Error: \n   0: a\n", ""), "Error: \n   0: a"},
		{"nothing", &abi.Result{Signal: "SIGKILL"}, ""},
	} {
		if got := ErrorText(c.result); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	for _, unit := range []string{"x", "é", "→", "𝄞"} {
		got := ErrorText(exited(1, strings.Repeat(unit, 2000), ""))
		if len(got) > abi.MaxErrorBytes || len(got) <= abi.MaxErrorBytes-utf8.UTFMax || !utf8.ValidString(got) {
			t.Errorf("a long text of %s: %d bytes", unit, len(got))
		}
	}
	cut := exited(1, "", "")
	cut.Stderr = abi.Text{Head: "start\nhalf", Tail: "half\nthe end\n", Cut: true}
	if got := ErrorText(cut); got != "the end" {
		t.Errorf("a cut text: %q", got)
	}
}
