package policy

import (
	"strings"
	"testing"

	"outlast/abi"

	"pgregory.net/rapid"
)

// The test in this file is the one that matters most: whatever a user or a
// server says where it can say something, a live server is never taken for one
// that is away, and so no write is repeated that may have been applied.

// words are what somebody could say to fool the policy: every marker of the
// documents, whole reports, and what ends a line somewhere.
func words(t testing.TB) []string {
	list := []string{
		printed(url, "client error (Connect)", "tcp connect error", "Connection refused (os error 111)"),
		"Error: \n   0: " + url + "\n   1: client error (Connect)\n   2: dns error\n\n",
		"Error:\r\n   0: " + url + "\r\n   1: client error (Connect)\r\n   2: tcp connect error\r\n\r\n",
		"\x1b[91mError:\x1b[0m \n   0: \x1b[91m" + url + "\x1b[0m\n   1: client error (Connect)\n   2: tcp connect error\n\n",
		"   1: client error (Connect)\n   2: tcp connect error\n\n", "\n   1: client error (Connect)", "\n   2: tcp connect error\n",
		url, "client error (Connect)", "tunnel error: unsuccessful", "Connection refused (os error 111)", "Error: ", "Error:", "   0: ", "   1: ", "   2: ",
		"\n", "\n\n", "\r", "\r\n", "\v", "\f", "\u0085", "\u2028", "\u2029", "\x00", "\x1b[0m", "\x1b[91m", "\x1b[2K\r", "\x1b[1A", "\x1b[", "\x1b", "m",
		"HTTP 503", "HTTP 200", `command_outcome: {"effects":"none","request_dispatched":false}`, `{"error":"tcp connect error"}`, `"request_dispatched":false`,
		`\u0074cp connect error`, "Location:", ")", "(", " ", "       ",
	}
	seen := map[string]bool{}
	for _, name := range Names() {
		for _, rule := range builtin(t, name).Rules {
			for _, c := range rule.When {
				for _, test := range c.Text {
					for _, group := range [][]Marker{test.Is, test.Starts, test.Any, test.All} {
						for _, m := range group {
							if !seen[m.Text] {
								seen[m.Text] = true
								list = append(list, m.Text)
							}
						}
					}
				}
			}
		}
	}
	return list
}

// speech is a text that a user or a server has full control of.
func speech(t *rapid.T, words []string) string {
	word := rapid.OneOf(rapid.SampledFrom(words), rapid.SampledFrom(words), rapid.StringN(0, 6, -1))
	return strings.Join(rapid.SliceOfN(word, 1, 6).Draw(t, "speech"), rapid.SampledFrom([]string{"", " ", "\n", "\r", ": "}).Draw(t, "joined by"))
}

// oneLine is a speech that has passed through what takes line feeds out, as an
// URL or an argument that is printed on one line.
func oneLine(t *rapid.T, words []string) string {
	return strings.ReplaceAll(speech(t, words), "\n", rapid.SampledFrom([]string{"", " ", "%0A", `\n`, "\r"}).Draw(t, "for a line feed"))
}

// A situation is a failure of a live server, or of something that is no
// server's restart, in which a speech stands where it could.
type situation struct {
	name string
	make func(t *rapid.T, words []string) abi.Result
}

// loading is how a server itself may say, at the start of its message, that it
// is not there yet: in that it is believed.
var loading = []string{"graph is loading", "graph admission is closed", "server operation admission is closed"}

// undiscovered is how 0.13 says that it did not reach a server. A server that
// says so is found out by its status, unless that is not printed (in the report of
// a read), is cut off, or is one that a proxy gives. There it is believed for a
// read, which may be repeated.
var undiscovered = append([]string{"server discovery ", "could not establish omnigraph-http-api: "}, loading...)

// refusals are how a server's own message starts that refuses a write before
// any effect: in these it is believed too, and in nothing else.
var refusals = []string{
	"write authority '", "stale view", "actor in-flight count cap ", "actor byte budget exceeded",
	"active actor count cap ", "global operation count cap ", "global operation input budget exceeded", "write ingress ", "read ingress ",
	"server read observer cap ", "server write observer cap ", "graph request ownership exhausted", "dataset for node type '", "table '",
}

func startsWith(s string, starts []string) bool {
	s = strings.TrimLeft(lower(plain(s)), "\n")
	for _, start := range starts {
		if strings.HasPrefix(s, start) {
			return true
		}
	}
	return false
}

func situations() []situation {
	exit1 := func(stderr string) abi.Result { return *exited(1, stderr, "") }
	// A message that a server has full control of, but that it may not start so.
	bodyBut := func(t *rapid.T, words, starts []string) string {
		if prefix := rapid.SampledFrom([]string{"", "storage: ", "server returned 500 Internal Server Error: ", "server returned 503 Service Unavailable: "}).Draw(t, "before the body"); prefix != "" {
			return prefix + speech(t, words)
		}
		return rapid.Custom(func(t *rapid.T) string { return speech(t, words) }).Filter(func(s string) bool { return !startsWith(s, starts) }).Draw(t, "body")
	}
	body := func(t *rapid.T, words []string) string { return bodyBut(t, words, undiscovered) }
	bodyOfAServer := func(t *rapid.T, words []string) string { return bodyBut(t, words, loading) }
	banner := func(t *rapid.T, words []string) string {
		return "omnigraph load → " + speech(t, words) + " (served)\n"
	}
	broken := func(url string) string {
		return printed("error sending request for url ("+url+")", "client error (SendRequest)", "connection closed before message completed")
	}
	return []situation{
		{"a server's error", func(t *rapid.T, w []string) abi.Result { return exit1(printed(bodyOfAServer(t, w))) }},
		{"a server's error after the banner", func(t *rapid.T, w []string) abi.Result { return exit1(banner(t, w) + printed(bodyOfAServer(t, w))) }},
		{"an error with causes", func(t *rapid.T, w []string) abi.Result {
			return exit1(printed(body(t, w), "x: "+speech(t, w), "y: "+speech(t, w)))
		}},
		{"the URL of a connection that broke", func(t *rapid.T, w []string) abi.Result { return exit1(broken("http://h/" + oneLine(t, w))) }},
		{"the banner before a connection that broke", func(t *rapid.T, w []string) abi.Result { return exit1(banner(t, w) + broken("http://h")) }},
		{"the banner before a crash", func(t *rapid.T, w []string) abi.Result {
			r := abi.Result{Signal: "SIGKILL", Stderr: abi.Text{Head: "omnigraph load → " + oneLine(t, w) + " (served)\n"}}
			r.TimedOut = rapid.Bool().Draw(t, "timed out")
			return r
		}},
		{"a panic's message", func(t *rapid.T, w []string) abi.Result {
			return *exited(101, "The application panicked (crashed).\nMessage:  "+oneLine(t, w)+"\nLocation: x\n", "")
		}},
		{"a branch", func(t *rapid.T, w []string) abi.Result {
			return exit1(printed("policy denied action 'change' on branch '" + speech(t, w) + "' for actor '" + speech(t, w) + "'"))
		}},
		{"a graph", func(t *rapid.T, w []string) abi.Result {
			return exit1(printed("graph '" + speech(t, w) + "' not found"))
		}},
		{"a query", func(t *rapid.T, w []string) abi.Result {
			return exit1(printed("parse error:  --> 1:13\n" + speech(t, w)))
		}},
		{"data on stdout", func(t *rapid.T, w []string) abi.Result {
			r := *exited(1, rapid.SampledFrom([]string{"", "\n", " "}).Draw(t, "stderr"), "")
			r.Stdout.Head = "row: " + speech(t, w)
			return r
		}},
		{"strings in JSON on stdout", func(t *rapid.T, w []string) abi.Result {
			s := strings.TrimSuffix(strings.TrimPrefix(quoted(speech(t, w)), `"`), `"`)
			shape := rapid.SampledFrom([]string{
				`{"rows":[{"error":"X","effects":"none"}]}`, `{"data":{"error":"X"}}`, `{"error":{"error":"X"}}`, `[{"error":"X"}]`, `"X"`, `{"X":"x"}`,
				`{"error":"storage: X","http_status":500,"details":{"error":"X","request_dispatched":false}}`, `{"error":["X"]}`, `{"error":"a"}{"error":"X"}`,
				`{"error":"a","error":"X"}`, `{"Error":"X"}`, `{"error":"the store failed","detail":"X","code":"X"}`,
			}).Draw(t, "JSON")
			return *exited(1, "", strings.ReplaceAll(shape, "X", s))
		}},
		{"an HTTP body", func(t *rapid.T, w []string) abi.Result {
			return *answered(rapid.SampledFrom([]int64{200, 400, 409, 418, 500, 502, 503, 504}).Draw(t, "status"), bodyOfAServer(t, w))
		}},
		{"an HTTP body in JSON", func(t *rapid.T, w []string) abi.Result {
			return *answered(500, `{"error":`+quoted(bodyOfAServer(t, w))+`,"details":{"effects":"none","error":`+quoted(speech(t, w))+`}}`)
		}},
		{"a report that ends too early", func(t *rapid.T, w []string) abi.Result {
			return exit1("Error: \n   0: " + url + "\n   1: client error (Connect)\n" + strings.ReplaceAll("x "+speech(t, w), "\n", "\n      "))
		}},
		{"a message of 0.13", func(t *rapid.T, w []string) abi.Result {
			return exit1(bodyOfAServer(t, w) + "\nHTTP " + rapid.SampledFrom([]string{"400", "409", "500", "503"}).Draw(t, "status") + "\n")
		}},
		{"a message of 0.13 with its outcome", func(t *rapid.T, w []string) abi.Result {
			return exit1("the store failed: " + speech(t, w) + "\nHTTP 500\ncommand_outcome: {\"execution\":\"unknown\",\"effects\":\"unknown\",\"action\":" + quoted(speech(t, w)) + "}\n")
		}},
	}
}

func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r < ' ':
			b.WriteString(`\u00` + string("0123456789abcdef"[r>>4]) + string("0123456789abcdef"[r&15]))
		default:
			b.WriteRune(r)
		}
	}
	return b.String() + `"`
}

// cutAnywhere makes a head and a tail of a text, padded so that a host would
// have had to cut it, or just so.
func cutAnywhere(t *rapid.T, text abi.Text) abi.Text {
	s := text.Head
	switch rapid.IntRange(0, 11).Draw(t, "cut") {
	case 0, 1, 2:
		i := rapid.IntRange(0, len(s)).Draw(t, "end of the head")
		return abi.Text{Head: s[:i], Tail: s[rapid.IntRange(i, len(s)).Draw(t, "start of the tail"):], Cut: true}
	case 3: // a long body: the report's last lines are in the tail
		if i := strings.LastIndex(s, "\n\nLocation:"); i >= 0 {
			return abi.Clip(s[:i] + strings.Repeat("\n      <p>more of it</p>", 4000) + s[i:])
		}
	}
	return text
}

func TestNobodyIsFooled(t *testing.T) {
	said, all := words(t), situations()
	doc := builtin(t, "omnigraph")
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SampledFrom(all).Draw(t, "situation")
		result := s.make(t, said)
		result.Stderr = cutAnywhere(t, result.Stderr)
		if rapid.Bool().Draw(t, "on a terminal") {
			result.Stderr.Head = strings.ReplaceAll(result.Stderr.Head, "\n", "\r\n")
			result.Stderr.Tail = strings.ReplaceAll(result.Stderr.Tail, "\n", "\r\n")
		}
		for _, call := range []abi.Call{read0(1), write0(1), localWrite()} {
			v := newView(&result)
			rule, _ := doc.recognise(&call, v)
			action, _, err := Decide(doc, &call, "", &abi.Event{Type: abi.Attempted, Result: &result}, false)
			if err != nil {
				t.Fatal(err)
			}
			repeated := call.Write && action.Type == abi.Retry && !(startsWith(v.message, refusals) || v.status == 429)
			believed := !call.Write && (v.status == 0 || v.status == 503) && startsWith(v.message, undiscovered)
			if rule.Kind == "unavailable" && !believed || repeated {
				t.Fatalf("%s: a live server is %s, write %t: %s\nstderr %q %q\nstdout %q\nmessage %q", s.name, rule.Kind, call.Write, action.Encode(),
					result.Stderr.Head, result.Stderr.Tail, result.Stdout.Head, result.Message.Head)
			}
		}
	})
}

// The same words where the program itself puts them are believed: the test
// above does not pass because nothing is.
func TestTheProgramItselfIsBelieved(t *testing.T) {
	for _, stderr := range []string{
		printed(url, "client error (Connect)", "tcp connect error"),
		"omnigraph load → http://h (served)\n" + printed(url, "client error (Connect)", "dns error", "x"),
		"omnigraph load → Error: \n   0: a\n\n (served)\n" + printed(url, "client error (Connect)", "tcp connect error"),
		strings.ReplaceAll(printed(url, "client error (Connect)", "tcp connect error"), "\n", "\r\n"),
		"graph is loading; wait\nHTTP 503\n",
	} {
		if got := kindBy(t, "omnigraph", write0(1), exited(1, stderr, "")); got != "unavailable" {
			t.Errorf("%q: %s", stderr, got)
		}
	}
}
