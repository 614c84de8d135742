package policy

import (
	"testing"

	"outlast/abi"
)

// recognised is the rule of the default policy for a result, and what it does
// with it for a remote read and a remote write.
type recognised struct {
	name   string
	result abi.Result
	read   string
	write  string // "": as the read
	// effects are those of the write: "" where it is tried again.
	effects abi.Effects
}

func ending(stderr, end string) abi.Result { return *exited(1, stderr+"\n"+end+"\n", "") }

func (r recognised) with(change func(*abi.Result)) recognised {
	change(&r.result)
	return r
}

// Each case is one that two rules could claim, or that none may.
func TestOrderOfTheRules(t *testing.T) {
	const (
		outcomeUnknown = `command_outcome: {"execution":"unknown","effects":"unknown","action":"reconcile"}`
		outcomeNone    = `command_outcome: {"execution":"not_started","effects":"none","action":"refresh"}`
		notDispatched  = `command_outcome: {"request_dispatched":false}`
		connect        = "client error (Connect)"
		discovery      = "server discovery connection failed (DNS, TCP, proxy, or TLS); could not establish omnigraph-http-api: 0.13"
		contract       = "response did not carry exactly one Omnigraph-Http-Api: 0.13 header"
		stamped        = "__manifest is stamped at internal schema v7 but this binary expects v6"
		stale          = "stale view of dataset: expected 22 but current is 23 — refresh and retry"
		authority      = "write authority 'graph_head:main' changed during preparation"
		occ            = "OCC recovery sidecar '01' is interleaved with a foreign advance"
		blocked        = "graph is unavailable; an operator must apply an explicit correction"
		needle         = "run `omnigraph repair` before writing"
	)
	report := func(causes ...string) abi.Result { return *exited(1, printed(causes...), "") }
	code := func(n int64) func(*abi.Result) { return func(r *abi.Result) { r.ExitCode = &n } }
	sent := func(s abi.Sent) func(*abi.Result) { return func(r *abi.Result) { r.Sent = s } }
	for _, c := range []recognised{
		// The user's own signals go before all.
		recognised{"an interrupt after a connect failure", refused, "cancelled", "", abi.EffectsUnknown}.with(func(r *abi.Result) { r.ExitCode, r.Signal = nil, "SIGINT" }),
		recognised{"an interrupt at the time limit", timedOut, "cancelled", "", abi.EffectsUnknown}.with(func(r *abi.Result) { r.Signal = "SIGQUIT" }),
		recognised{"another signal", killed, "crashed", "", abi.EffectsUnknown}.with(func(r *abi.Result) { r.Signal = "SIGTERM" }),

		// What broke the contract says nothing else.
		{"no stamp on a 429", *answered(429, contract), "contract_violation", "", abi.EffectsUnknown},
		{"no stamp on a 200", *answered(200, contract), "contract_violation", "", abi.EffectsUnknown},
		{"no stamp, as the tool says it", ending("server "+contract+"; this request's effects are unknown", "HTTP 503"), "contract_violation", "", abi.EffectsUnknown},
		{"no stamp, in the middle", ending("x "+contract, "HTTP 429"), "failed", "", abi.EffectsUnknown},
		{"unknown effects of a conflict", ending(stale, outcomeUnknown), "conflict", "", abi.EffectsUnknown},
		{"unknown effects of the cap", ending("x", "HTTP 429\n"+outcomeUnknown), "failed", "", abi.EffectsUnknown},
		{"unknown effects while loading", ending("graph is loading", outcomeUnknown), "unavailable", "", abi.EffectsUnknown},
		{"unknown effects of a blocked graph", ending(blocked, "HTTP 503\n"+outcomeUnknown), "graph_blocked", "", abi.EffectsUnknown},

		// Recovery wraps other texts.
		{"a stamp", report(stamped), "storage_mismatch", "", abi.EffectsNone},
		{"a stamp in a recovery", report("recovery required for operation 01: " + stamped), "recovery_required", "", abi.EffectsUnknown},
		{"a conflict in a recovery", report("recovery required for operation 01: " + authority), "recovery_required", "", abi.EffectsUnknown},
		{"a repair in a recovery", report("recovery required for operation 01: " + needle), "recovery_required", "", abi.EffectsUnknown},
		{"recovery with a status", *answered(503, "recovery required for operation 01"), "recovery_required", "", abi.EffectsUnknown},
		{"recovery at the cap", *answered(429, "recovery required for operation 01"), "recovery_required", "", abi.EffectsUnknown},
		{"recovery of several lines", report("recovery required for operation 01:\nmore"), "recovery_required", "", abi.EffectsUnknown},
		{"recovery in the middle", report("no recovery required"), "failed", "", abi.EffectsUnknown},

		// Only a connection that could not be established.
		{"refused", refused, "unavailable", "", ""},
		{"no name", report(url, connect, "dns error", "failed to lookup address information"), "unavailable", "", ""},
		{"no tunnel", report(url, connect, "tunnel error: unsuccessful"), "unavailable", "", ""},
		{"no tunnel, and why", report(url, connect, "tunnel error: unsuccessful: 503"), "unavailable", "", ""},
		{"no cause beneath", report(url, connect, "tcp connect error"), "unavailable", "", ""},
		{"colours", *exited(1, "Error: \n   0: \x1b[91m"+url+"\x1b[0m\n   1: \x1b[91m"+connect+"\x1b[0m\n   2: \x1b[91mtcp connect error\x1b[0m\n\nLocation:\n", ""), "unavailable", "", ""},
		{"capitals", report("ERROR SENDING REQUEST FOR URL (U)", "CLIENT ERROR (CONNECT)", "TCP CONNECT ERROR"), "unavailable", "", ""},
		{"no permission of the proxy", report(url, connect, "tunnel error: proxy authorization required"), "failed", "", abi.EffectsNone},
		{"a certificate", report(url, connect, "invalid peer certificate: Other(OtherError(CaUsedAsEndEntity))"), "failed", "", abi.EffectsNone},
		{"only two causes", report(url, connect), "failed", "", abi.EffectsNone},
		recognised{"a certificate, though it was sent", report(url, connect, "invalid peer certificate"), "failed", "", abi.EffectsUnknown}.with(sent(abi.SentYes)),
		{"a cause more", report(url, connect, "tcp connect error: x"), "failed", "", abi.EffectsNone},
		{"a cause of two lines", report(url, connect, "tcp connect error\nx"), "failed", "", abi.EffectsNone},
		{"Connect of two lines", report(url, connect+"\nx", "tcp connect error"), "failed", "", abi.EffectsUnknown},
		{"Connect with more", report(url, connect+" ", "tcp connect error"), "failed", "", abi.EffectsUnknown},
		{"another cause 0", report("sending "+url, connect, "tcp connect error"), "failed", "", abi.EffectsUnknown},
		{"causes in another order", report(url, "tcp connect error", connect), "failed", "", abi.EffectsUnknown},
		{"a later cause", report(url, "x", connect, "tcp connect error"), "failed", "", abi.EffectsUnknown},
		recognised{"refused, says the text, but the host knows that it was sent", refused, "failed", "", abi.EffectsUnknown}.with(sent(abi.SentYes)),
		recognised{"refused, and not sent", refused, "unavailable", "", ""}.with(sent(abi.SentNo)),
		recognised{"refused, with another exit code", refused, "unavailable", "", ""}.with(code(75)),
		{"discovery, cut before its outcome", *exited(1, discovery+"\n", ""), "unavailable", "", abi.EffectsUnknown},
		{"discovery", ending(discovery, outcomeNone), "unavailable", "", ""},
		{"discovery timed out", ending("server discovery timed out after 5s", outcomeNone), "unavailable", "", ""},
		{"discovery, with an outcome of other members", ending(discovery, notDispatched), "unavailable", "", abi.EffectsUnknown},
		recognised{"discovery, and the host knows that it was sent", *exited(1, discovery, ""), "failed", "", abi.EffectsUnknown}.with(sent(abi.SentYes)),
		{"discovery that a server tells of", ending(discovery, "HTTP 500"), "failed", "", abi.EffectsUnknown},
		{"discovery that a server tells of in JSON", *exited(1, "", `{"error":"`+discovery+`","http_status":500}`), "failed", "", abi.EffectsUnknown},
		{"discovery that a server tells of, as 0.11 prints it", *exited(1, "Error: \n   0: "+discovery+"\n\nLocation:\n", ""), "unavailable", "failed", abi.EffectsUnknown},
		{"discovery timed out, that a server tells of, as 0.11 prints it", *exited(1, "Error: \n   0: server discovery timed out after 5s\n\nLocation:\n", ""), "unavailable", "failed", abi.EffectsUnknown},
		{"discovery in JSON", *exited(1, "", `{"error":"`+discovery+`","code":"api_contract_mismatch","http_status":null,"request_dispatched":false}`), "unavailable", "", abi.EffectsUnknown},
		{"another contract", *exited(1, "could not establish omnigraph-http-api: 0.13 through successful server discovery\nHTTP 200\n"+outcomeNone+"\n", ""), "wrong_server", "", abi.EffectsNone},
		{"loading, cut before its outcome", ending("graph is loading; wait for its startup attempt to complete", "HTTP 503"), "unavailable", "", abi.EffectsUnknown},
		{"loading", ending("graph is loading; wait for its startup attempt to complete", "HTTP 503\n"+outcomeUnknown), "unavailable", "", ""},
		recognised{"in transition", *answered(503, `{"error":"graph admission is closed for a serving transition"}`), "unavailable", "", ""}.with(sent(abi.SentYes)),
		{"loading, in the middle", ending("the graph is loading", "HTTP 503"), "interrupted", "", abi.EffectsUnknown},
		recognised{"refused before the time limit", refused, "unavailable", "", ""}.with(func(r *abi.Result) { r.TimedOut = true }),

		// An answer that is not the server's.
		{"not HTTP", report(url, "client error (SendRequest)", "invalid HTTP version parsed"), "unreadable", "", abi.EffectsUnknown},
		{"a banner", report(url, "client error (SendRequest)", "received unexpected message from connection"), "unreadable", "", abi.EffectsUnknown},
		{"cancelled", report(url, "client error (Canceled)", "operation was canceled", "received unexpected message"), "unreadable", "", abi.EffectsUnknown},
		{"HTML", report("expected value at line 1 column 1"), "unreadable", "", abi.EffectsUnknown},
		{"nothing in the body", report("EOF while parsing a value at line 1 column 0"), "unreadable", "", abi.EffectsUnknown},
		{"other JSON", report("missing field `query_name` at line 1 column 11"), "unreadable", "", abi.EffectsUnknown},
		{"HTML beneath another cause", report("loading the policy", "expected value at line 1 column 1"), "failed", "", abi.EffectsUnknown},
		{"HTML over another cause", report("expected value at line 1 column 1", "x"), "failed", "", abi.EffectsUnknown},

		// The time limit, and crashes.
		{"the time limit", timedOut, "timed_out", "", abi.EffectsUnknown},
		recognised{"the time limit of a call that was at its cap", timedOut, "timed_out", "", abi.EffectsUnknown}.with(func(r *abi.Result) { r.Stderr = capped.Stderr }),
		recognised{"a panic that quotes the cap", capped, "crashed", "", abi.EffectsUnknown}.with(code(101)),
		recognised{"a signal with a conflict's text", lostRace, "crashed", "", abi.EffectsUnknown}.with(func(r *abi.Result) { r.ExitCode, r.Signal = nil, "SIGSEGV" }),
		recognised{"exit 100", strange, "failed", "", abi.EffectsUnknown}.with(code(100)),

		// The cap.
		{"the code of the cap alone", *exited(75, "", ""), "admission_cap", "", abi.EffectsUnknown},
		{"the status of the cap", *answered(429, "anything"), "admission_cap", "", ""},
		{"the cap in JSON", *exited(1, "", `{"error":"slow down","http_status":429}`), "failed", "", abi.EffectsUnknown},
		{"bytes", report("actor byte budget exceeded: would use 999 bytes against cap 100"), "admission_cap", "", ""},
		{"observers", report("server read observer cap 8 exceeded"), "admission_cap", "", ""},
		{"the cap in the middle", report("no actor in-flight count cap 1 exceeded"), "failed", "", abi.EffectsUnknown},
		{"the cap before a precondition", *exited(75, "precondition failed on branch 'main'", ""), "admission_cap", "", abi.EffectsUnknown},
		recognised{"exit 74", strange, "failed", "", abi.EffectsUnknown}.with(code(74)),

		// What a caller stated, before a conflict.
		{"the code of a precondition", *exited(4, "precondition failed on branch 'main': expected head 'a' but current is b\n", ""), "precondition_failed", "", abi.EffectsNone},
		{"the code of a precondition, with another text", *exited(4, stale, ""), "conflict", "", abi.EffectsUnknown},
		{"the status of a precondition", *answered(412, stale), "precondition_failed", "", abi.EffectsNone},
		{"the text of a precondition", *answered(500, "precondition_failure {expected: A}"), "precondition_failed", "", abi.EffectsNone},
		{"a precondition in the middle", *answered(500, "x precondition_failure"), "failed", "", abi.EffectsUnknown},
		recognised{"exit 5", strange, "failed", "", abi.EffectsUnknown}.with(code(5)),

		// Stops that name what to do.
		{"quarantined", *answered(503, occ), "store_quarantined", "", abi.EffectsUnknown},
		{"quarantined, and repair", report(occ + "; " + needle), "store_quarantined", "", abi.EffectsUnknown},
		{"blocked", *answered(503, blocked), "graph_blocked", "", abi.EffectsNone},
		{"an index", *answered(409, "full-text index 'm' requires rebuild; run omnigraph rebuild-full-text-indexes <URI>"), "full_text_rebuild_required", "", abi.EffectsNone},
		{"an index without the words", *answered(409, "full-text index 'm' is broken"), "failed", "", abi.EffectsUnknown},
		{"the words without an index", *answered(409, "see rebuild-full-text-indexes"), "failed", "", abi.EffectsUnknown},
		{"repair", drifted, "needs_repair", "", abi.EffectsNone},
		{"repair in a text that only quotes it", report("storage: write of /data/" + needle + " failed after the manifest was published"), "failed", "", abi.EffectsUnknown},
		{"repair in the address of a broken connection", report("error sending request for url (http://g/"+needle+")", "client error (SendRequest)", "connection closed before message completed"), "interrupted", "", abi.EffectsUnknown},
		{"a broken connection before the cap's exit code", *exited(75, printed("error sending request for url (http://g)", "client error (SendRequest)", "connection closed before message completed"), ""), "interrupted", "", abi.EffectsUnknown},
		{"repair in a conflict", report(stale + "; " + needle), "conflict", "", ""},
		{"repair without its marks", report("run omnigraph repair before writing"), "failed", "", abi.EffectsUnknown},
		{"repair in a later cause", report("x", needle), "failed", "", abi.EffectsUnknown},

		// Conflicts.
		{"stale", lostRace, "conflict", "", ""},
		{"authority", report(authority + " — reprepare"), "conflict", "", ""},
		{"capitals of a conflict", report("STALE VIEW: REFRESH AND RETRY"), "conflict", "", ""},
		{"letters that look alike", report("\u017ftale view: refresh and retry"), "failed", "", abi.EffectsUnknown},
		{"stale, without what to do", report("stale view of dataset"), "failed", "", abi.EffectsUnknown},
		{"stale, in the middle", report("commit failed: " + stale), "failed", "", abi.EffectsUnknown},
		{"authority that did not change", report("write authority 'x' is missing"), "failed", "", abi.EffectsUnknown},
		{"a conflict with a status", *answered(409, stale), "conflict", "", ""},
		{"a conflict's text with another status", *answered(503, stale), "interrupted", "", abi.EffectsUnknown},
		{"a conflict's status alone", *answered(409, "x"), "failed", "", abi.EffectsUnknown},

		// Broken connections, and proxies last of all.
		{"closed", broken, "interrupted", "", abi.EffectsUnknown},
		{"reset", report(url, "client error (SendRequest)", "connection error", "Connection reset by peer (os error 104)"), "interrupted", "", abi.EffectsUnknown},
		{"while writing", report(url, "client error (SendRequest)", "error writing a body to connection"), "interrupted", "", abi.EffectsUnknown},
		{"another SendRequest", report(url, "client error (SendRequest)", "x"), "failed", "", abi.EffectsUnknown},
		{"half an answer", report("error decoding response body", "error reading a body from connection", "end of file"), "interrupted", "", abi.EffectsUnknown},
		{"an answer that does not decode", report("error decoding response body", "expected value at line 1 column 1"), "failed", "", abi.EffectsUnknown},
		{"502", report("server returned 502 Bad Gateway: <html>\n</html>"), "interrupted", "", abi.EffectsUnknown},
		{"503", proxied, "interrupted", "", abi.EffectsUnknown},
		{"504", *answered(504, ""), "interrupted", "", abi.EffectsUnknown},
		{"500", report("server returned 500 Internal Server Error: x"), "failed", "", abi.EffectsUnknown},
		{"505", *answered(505, ""), "failed", "", abi.EffectsUnknown},
		{"a line", ending("upstream", "HTTP 502"), "interrupted", "", abi.EffectsUnknown},
		{"a proxy, and the text says without effect", ending("upstream", "HTTP 502\n"+outcomeNone), "interrupted", "", abi.EffectsUnknown},
		recognised{"closed, and the host says that nothing was sent", broken, "interrupted", "", abi.EffectsUnknown}.with(sent(abi.SentNo)),

		// What is left.
		{"usage", usage, "failed", "", abi.EffectsNone},
		{"without effect", ending("x", outcomeNone), "failed", "", abi.EffectsNone},
		{"not dispatched, in a place where no release says it", ending("x", notDispatched), "failed", "", abi.EffectsUnknown},
		recognised{"not sent", strange, "failed", "", abi.EffectsNone}.with(sent(abi.SentNo)),
		recognised{"sent", strange, "failed", "", abi.EffectsUnknown}.with(sent(abi.SentYes)),
		{"a token", report("invalid bearer token"), "failed", "", abi.EffectsNone},
		{"a token with the sign of kelvin", report("invalid bearer to\u212aen"), "failed", "", abi.EffectsUnknown},
		{"a token and more", report("invalid bearer token store"), "failed", "", abi.EffectsUnknown},
		{"not found", report("graph 'x' not found"), "failed", "", abi.EffectsNone},
		{"found", report("graph 'x' was applied"), "failed", "", abi.EffectsUnknown},
		{"401", *answered(401, ""), "failed", "", abi.EffectsNone},
		{"400", *answered(400, "query: the engine failed"), "failed", "", abi.EffectsUnknown},
		{"404 of the server", report("server returned 404 Not Found: "), "failed", "", abi.EffectsNone},
		{"404 of something else", report("server returned 404 Not Found: <html>"), "failed", "", abi.EffectsUnknown},
	} {
		doc := builtin(t, "omnigraph")
		if c.write == "" {
			c.write = c.read
		}
		for _, call := range []abi.Call{read0(1), write0(1)} {
			want := c.read
			if call.Write {
				want = c.write
			}
			if got := kindBy(t, "omnigraph", call, &c.result); got != want {
				t.Errorf("%s: write %t: %s, want %s", c.name, call.Write, got, want)
			}
		}
		call := write0(1)
		action, _ := ask(t, doc, &call, "", &abi.Event{Type: abi.Attempted, Result: &c.result})
		switch {
		case action.Type == abi.Retry && c.effects != "":
			t.Errorf("%s: the write is tried again", c.name)
		case action.Type == abi.Stop && action.Outcome.Effects != c.effects:
			t.Errorf("%s: effects %q, want %q", c.name, action.Outcome.Effects, c.effects)
		}
	}
}

// Each part of a condition that is given must hold.
func TestConditions(t *testing.T) {
	doc := func(condition string) *Document {
		return parsed(t, `{"version":1,"name":"x","budgets":{},"rules":[{"kind":"yes","when":[`+condition+`],"then":[{"stop":{"effects":"none"}}]},`+
			`{"kind":"no","then":[{"stop":{"effects":"none"}}]}]}`)
	}
	report := func(causes ...string) abi.Result { return *exited(1, printed(causes...), "") }
	cut := abi.Result{Signal: "SIGHUP", Stderr: abi.Text{Head: "alpha\nbe", Tail: "ta\ngamma\n", Cut: true}}
	// A line of more than abi.MaxTextBytes, beside an error object that is not to be read.
	endless := abi.Result{ExitCode: strange.ExitCode, Stderr: abi.Text{Head: "beginning", Tail: "omega", Cut: true}, Stdout: abi.Text{Head: `{"error":"hidden"}`}}
	for _, c := range []struct {
		condition string
		yes, no   []abi.Result
	}{
		{`{"transport":"process"}`, []abi.Result{strange, killed}, []abi.Result{*answered(500, ""), {Message: abi.Text{Head: "x"}}}},
		{`{"transport":"http"}`, []abi.Result{*answered(500, "")}, []abi.Result{strange, killed}},
		{`{"exit_codes":[1,3]}`, []abi.Result{*exited(1, "", ""), *exited(3, "", "")}, []abi.Result{*exited(2, "", ""), killed, *answered(1, "")}},
		{`{"signals":["SIGHUP"]}`, []abi.Result{cut}, []abi.Result{killed, strange}},
		{`{"signals":["any"]}`, []abi.Result{cut, killed}, []abi.Result{strange, *answered(500, "")}},
		{`{"http_statuses":[500]}`, []abi.Result{*answered(500, ""), *exited(1, "m\nHTTP 500\n", "")}, []abi.Result{*answered(501, ""), strange}},
		{`{"http_statuses":[0]}`, []abi.Result{strange}, []abi.Result{*answered(500, "")}},
		{`{"timed_out":true}`, []abi.Result{timedOut}, []abi.Result{killed}},
		{`{"sent":["unknown"]}`, []abi.Result{strange}, []abi.Result{{Sent: abi.SentYes}, {Sent: abi.SentNo}}},
		{`{"sent":["yes","no"]}`, []abi.Result{{Sent: abi.SentYes}, {Sent: abi.SentNo}}, []abi.Result{strange}},
		{`{"effects":"none"}`, []abi.Result{{Sent: abi.SentNo}}, []abi.Result{strange, {Sent: abi.SentYes}}},
		{`{"cause_count":2}`, []abi.Result{report("a", "b")}, []abi.Result{report("a"), report("a", "b", "c"), strange}},
		{`{"exit_codes":[1],"sent":["no"]}`, nil, []abi.Result{strange, {Sent: abi.SentNo}}},
		{`{"text":[{"in":"message","is":["A b"]}]}`, []abi.Result{report("a B"), *exited(1, "A B\nc\n", "")}, []abi.Result{report("a b "), report("xa b"), report("c", "a b")}},
		{`{"text":[{"in":"message","starts":["A b"]}]}`, []abi.Result{report("a Bc")}, []abi.Result{report("xa b"), report("c", "a b")}},
		{`{"text":[{"in":"message","any":["A b","c"]}]}`, []abi.Result{report("xa b"), report("xc")}, []abi.Result{report("x", "c"), report("ab")}},
		{`{"text":[{"in":"message","all":["a","b"]}]}`, []abi.Result{report("xbxa")}, []abi.Result{report("a"), report("b", "a")}},
		{`{"text":[{"in":"message","none":["a","b"]}]}`, []abi.Result{report("x", "a"), *exited(1, "", "")}, []abi.Result{report("xa"), report("xb")}},
		{`{"text":[{"in":"message","is":["a"],"starts":["b"],"any":["c"]}]}`, []abi.Result{report("a"), report("bx"), report("xc")}, []abi.Result{report("x"), report("ax")}},
		{`{"text":[{"in":"message","starts":["a"],"all":["b"],"none":["c"]}]}`, []abi.Result{report("ab")}, []abi.Result{report("a"), report("abc"), report("b")}},
		{`{"text":[{"in":"cause","at":1,"is":["a"]}]}`, []abi.Result{report("x", "a"), report("x", "a", "y")}, []abi.Result{report("a"), report("a", "x"), *exited(1, "a\na\n", "")}},
		{`{"text":[{"in":"cause","at":1,"none":["a"]}]}`, []abi.Result{report("a", "b")}, []abi.Result{report("x"), report("x", "a")}}, // a cause that is not there has no words
		{`{"text":[{"in":"anywhere","any":["b"]}]}`, []abi.Result{report("x", "a b"), *exited(1, "x\nB\n", ""), *exited(1, "", `{"error":"a","x":"b"}`)}, []abi.Result{*exited(1, "", "b"), *exited(1, "x", "b")}},
		{`{"text":[{"in":"anywhere","all":["alpha","gamma"]}]}`, []abi.Result{cut}, []abi.Result{*exited(1, "alpha", "gamma")}},
		// Of a line that is cut, each piece is searched, never the two as one; no place
		// in the text is known of it.
		{`{"text":[{"in":"anywhere","any":["BE"]}]}`, []abi.Result{cut, endless}, []abi.Result{*exited(1, "x", "be")}},
		{`{"text":[{"in":"anywhere","any":["ta\n"]},{"in":"shown","all":["be","ta"]}]}`, []abi.Result{cut}, []abi.Result{endless}},
		{`{"text":[{"in":"anywhere","none":["omega"]}]}`, []abi.Result{cut}, []abi.Result{endless}},
		{`{"text":[{"in":"anywhere","any":["omega"]}]}`, []abi.Result{endless}, []abi.Result{cut}},
		{`{"text":[{"in":"anywhere","any":["beta","beome","hidden"]}]}`, nil, []abi.Result{cut, endless}},
		{`{"text":[{"in":"message","any":["be","ome"]}]},{"text":[{"in":"cause","at":0,"any":["be","ome"]}]},{"text":[{"in":"message","starts":["be","ome"]}]}`, nil, []abi.Result{cut, endless}},
		{`{"text":[{"in":"anywhere","any":["alpha\ngamma","alpha\n\ngamma"]}]}`, nil, []abi.Result{cut}},
		{`{"text":[{"in":"shown","any":["b"]}]}`, []abi.Result{*exited(1, "", `{"error":"ab"}`), *exited(1, "", `{"error":"a","code":"B"}`), *exited(1, "xb", "")}, []abi.Result{*exited(1, "", `{"error":"a","x":"b"}`)}},
		{`{"text":[{"in":"message","any":["a"]},{"in":"message","any":["b"]}]}`, []abi.Result{report("ab")}, []abi.Result{report("a"), report("b")}},
		{`{"exit_codes":[9]},{"exit_codes":[1]}`, []abi.Result{strange}, []abi.Result{usage}},
	} {
		d := doc(c.condition)
		for want, results := range map[string][]abi.Result{"yes": c.yes, "no": c.no} {
			for i := range results {
				if rule, _ := d.recognise(&abi.Call{}, newView(&results[i])); rule.Kind != want {
					t.Errorf("%s: %q: %s", c.condition, results[i].Stderr.Head+results[i].Stdout.Head, rule.Kind)
				}
			}
		}
	}
	for _, write := range []bool{false, true} {
		rule, _ := doc(`{"write":true}`).recognise(&abi.Call{Write: write}, newView(&strange))
		if (rule.Kind == "yes") != write {
			t.Errorf("write %t: %s", write, rule.Kind)
		}
	}
}

// Each part of an if that is given must hold, and the first branch counts.
func TestBranches(t *testing.T) {
	yes, no := true, false
	for _, c := range []struct {
		cond If
		call abi.Call
		want bool
	}{
		{If{}, abi.Call{}, true},
		{If{Remote: &yes}, abi.Call{Remote: true}, true}, {If{Remote: &yes}, abi.Call{}, false}, {If{Remote: &no}, abi.Call{}, true},
		{If{Write: &yes}, abi.Call{Write: true}, true}, {If{Write: &no}, abi.Call{Write: true}, false},
		{If{SurfaceConflict: &yes}, abi.Call{SurfaceConflict: true}, true}, {If{SurfaceConflict: &yes}, abi.Call{}, false},
		{If{ConnectRetry: &yes}, abi.Call{ConnectRetry: true}, true}, {If{ConnectRetry: &yes}, abi.Call{}, false},
		{If{Remote: &yes, Write: &no}, abi.Call{Remote: true}, true}, {If{Remote: &yes, Write: &no}, abi.Call{Remote: true, Write: true}, false},
	} {
		if got := c.cond.holds(&c.call); got != c.want {
			t.Errorf("%+v of %+v is %t", c.cond, c.call, got)
		}
		rule := &Rule{Then: []Branch{{If: c.cond, Retry: 1}, {Retry: 2}}}
		if got := rule.branch(&c.call, false).Retry == 1; got != c.want {
			t.Errorf("%+v of %+v: the first branch is taken: %t", c.cond, c.call, got)
		}
	}
	once := &Rule{Then: []Branch{{Retry: 1, Repair: &RepairRule{Once: true}}, {Retry: 2}}}
	if once.branch(&abi.Call{}, false).Retry != 1 || once.branch(&abi.Call{}, true).Retry != 2 {
		t.Error("a repair once is taken twice, or not at all")
	}
	each := &Rule{Then: []Branch{{Retry: 1, Repair: &RepairRule{}}, {Retry: 2}}}
	if each.branch(&abi.Call{}, true).Retry != 1 {
		t.Error("a repair each time is taken only once")
	}
}
