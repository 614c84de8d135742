package policy

import "outlast/abi"

// view is a result as the rules look at it. Texts are plain and in lower case,
// but for excerpt.
type view struct {
	result *abi.Result
	reading
	anywhere   []string // parts that are searched one by one, never joined
	shown      []string
	message    string
	causes     []string
	form       Form   // that the program's words have; "": none
	whole      bool   // they are a report that is known not to be cut: its Location follows
	code       string // of an object, in lower case; "": none
	details    bool   // an object has members beside those of every failure, or an account advises what it does for these only
	status     int64  // 0: none
	retryAfter *int64 // in microseconds, as the host or the program says
	sent       abi.Sent
	effects    abi.Effects // as the program says of the whole command; "": nothing
	accounts   bool        // a well-formed account leaves the effects unknown
	excerpt    []string    // of what it said, for people; to be joined
}

// reading is how a document asks for results to be read.
type reading struct {
	colours    bool  // are left in what is searched and shown
	account    bool  // what omnigraph says of its own command is read where it stands
	hostOnly   bool  // no text says anything of the request: only the host does
	oneRequest *bool // what is known of the call
}

// view is the result as the document asks for it to be read.
func (d *Document) view(call *abi.Call, r *abi.Result) *view {
	return viewOf(r, reading{d.KeepColours, d.Account == AccountOutcome, d.Account == AccountHost, call.OneRequest})
}

func newView(r *abi.Result) *view { return viewOf(r, reading{}) }

func viewOf(r *abi.Result, how reading) *view {
	v := &view{result: r, reading: how, retryAfter: r.RetryAfterUS}
	if r.HTTPStatus != nil {
		v.status = *r.HTTPStatus
	}
	status := v.status
	f := v.read()
	if v.hostOnly {
		f, v.status = said{}, status
	}
	v.judge(f)
	return v
}

func (v *view) read() said {
	switch {
	case !v.printed():
		return v.http()
	case v.account:
		return v.accounted()
	}
	return v.process()
}

// printed says whether the result is of a program that prints, not of an HTTP
// exchange.
func (v *view) printed() bool {
	r := v.result
	return r.IsProcess() || r.Stderr != (abi.Text{}) || r.Stdout != (abi.Text{})
}

// said is what a program said in a parsed form about its request.
type said struct {
	effects    string
	dispatched *bool
}

// process looks at stderr, or, where that is blank, at the JSON error object
// that stdout may be. What a command prints as its own data is never matched.
func (v *view) process() said {
	parts, searched := v.lines(v.result.Stderr)
	if !blank(searched) {
		return v.stderr(parts, searched)
	}
	if v.result.Stdout.Cut {
		return said{}
	}
	f, _ := v.object(v.result.Stdout.Head)
	return f
}

func (v *view) stderr(parts, searched []string) said {
	v.text(parts, searched)
	f, ended := v.ending(parts[len(parts)-1])
	if ended || !v.report(parts) {
		v.form, v.message = FormLines, firstLine(parts[0])
	}
	return f
}

// judge weighs what the host, the parsed fields and a status say of whether the
// request was sent and had effects. Where they disagree, the more careful wins.
func (v *view) judge(f said) {
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
	case f.effects != "" || v.sent == abi.SentNo && v.ofAll():
		v.effects = abi.EffectsNone
	}
}

// ofAll says whether "not sent" is said of all that the attempt did. A program
// says it of one request; of a command that may have made others before, its
// account of the whole command counts, or the host that saw every request.
func (v *view) ofAll() bool {
	return !v.account || v.result.Sent == abi.SentNo || v.oneRequest != nil && *v.oneRequest
}
