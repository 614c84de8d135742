package abi

import (
	"unicode/utf8"

	"outlast/abi/fields"
	"outlast/abi/strictjson"
)

// Sent says whether an attempt's request left the caller, where the host knows
// more than a text can say.
type Sent string

// The values of Sent; "" is the same as SentUnknown.
const (
	SentUnknown Sent = "unknown"
	SentNo      Sent = "no"
	SentYes     Sent = "yes"
)

// AllSent are the words for it, the one that a missing member stands for first.
var AllSent = []string{string(SentUnknown), string(SentNo), string(SentYes)}

// Failure is what the host saw of a request of its own that got no whole answer.
type Failure string

// The failures; "" says nothing.
const (
	FailureUnresolved  Failure = "unresolved"  // no address for the server's name
	FailureUnconnected Failure = "unconnected" // no connection could be established
	FailureUntrusted   Failure = "untrusted"   // certificate or protocol refused in the handshake: waiting does not help
	FailureBroke       Failure = "broke"       // the connection stood, and broke before an answer
	FailureStale       Failure = "stale"       // as broke, but it had stood idle since before the call's first failure
	FailureCut         Failure = "cut"         // broke within the answer
	FailureMalformed   Failure = "malformed"   // what answered does not speak the protocol
)

// AllFailures are the words for it, after one for none.
var AllFailures = []string{
	"", string(FailureUnresolved), string(FailureUnconnected), string(FailureUntrusted), string(FailureBroke),
	string(FailureStale), string(FailureCut), string(FailureMalformed),
}

// Text is what a program printed. One of more than MaxTextBytes keeps its head
// and its tail, which are never joined; else Head has all of it.
type Text struct {
	Head string
	Tail string
	Cut  bool
}

// Clip makes a Text of s, as a host must send it: UTF-8 with U+FFFD for each
// byte that is none, and of more than MaxTextBytes of that the head and the
// tail. No cut splits a character.
func Clip(s string) Text {
	if !utf8.ValidString(s) {
		s = string([]rune(s))
	}
	if len(s) <= MaxTextBytes {
		return Text{Head: s}
	}
	head, tail := MaxTextBytes/2, len(s)-MaxTextBytes/2
	for !utf8.RuneStart(s[head]) {
		head--
	}
	for !utf8.RuneStart(s[tail]) {
		tail++
	}
	return Text{Head: s[:head], Tail: s[tail:], Cut: true}
}

// Result is how one attempt ended, either as a process (an exit code or a
// signal, with what it printed) or as an HTTP exchange (a status or a message).
// Times are microseconds on the host's clock.
type Result struct {
	ExitCode     *int64
	Signal       string // that ended the process, such as SIGKILL
	Stdout       Text
	Stderr       Text
	HTTPStatus   *int64
	Message      Text   // of an HTTP exchange that failed
	RetryAfterUS *int64 // the server's Retry-After; a negative one is ignored
	StartedUS    *int64
	EndedUS      *int64
	TimedOut     bool // the host ended it at the attempt's time limit
	Streamed     bool // its output has reached the user: it must not run again
	Sent         Sent
	Failure      Failure // of a request that the host made; never of a process
	OnlyRequest  bool    // the attempt made this one request and no other
}

// OK says whether the attempt succeeded: exit code 0, or a 2xx status without
// a message or a failure.
func (r *Result) OK() bool {
	if r.TimedOut || r.Signal != "" || r.Failure != "" {
		return false
	}
	if r.ExitCode != nil {
		return *r.ExitCode == 0
	}
	return r.HTTPStatus != nil && *r.HTTPStatus/100 == 2 && r.Message == Text{}
}

// IsProcess says whether the result is a process's, not an HTTP exchange's.
func (r *Result) IsProcess() bool {
	return r.ExitCode != nil || r.Signal != ""
}

// maxSignalName is longer than any system's signal names (a choice).
const maxSignalName = 32

// Fields implements fields.Message.
func (r *Result) Fields(f *fields.List) {
	f.OptionalInt("exit_code", &r.ExitCode, -fields.Most, fields.Most).Says("of a process that ended by itself")
	f.String("signal", &r.Signal, maxSignalName).Says("that ended the process: `SIGKILL`")
	r.Stdout.fields(f, "stdout", "stdout_head", "stdout_tail", "what it printed")
	r.Stderr.fields(f, "stderr", "stderr_head", "stderr_tail", "what it printed")
	f.OptionalInt("http_status", &r.HTTPStatus, 0, fields.Most).Says("of the answer; left out, or 0, where there was none")
	r.Message.fields(f, "message", "message_head", "message_tail", "of an HTTP exchange that failed: the answer's body, or the client's error")
	f.Add("retry_after_us", anyNumber{&r.RetryAfterUS}).Says("the server's Retry-After, as a duration")
	f.OptionalInt("started_us", &r.StartedUS, -fields.Most, fields.Most).Says("when the attempt began")
	f.OptionalInt("ended_us", &r.EndedUS, -fields.Most, fields.Most).Says("when it ended")
	f.Flag("timed_out", &r.TimedOut).Says("the host ended it at the attempt's time limit").Default("false")
	f.Flag("streamed", &r.Streamed).Says("its output has reached the user already: it is not run again, whatever the policy says").Default("false")
	f.Word("sent", (*string)(&r.Sent), AllSent).Says("whether the request left the caller, where the host knows. `no`: [it was seen](#what-a-host-sees-of-its-requests) that nothing of the whole attempt was sent that could have an effect").Default("`unknown`")
	f.Word("failure", (*string)(&r.Failure), AllFailures).Says("[what the host saw](#what-a-host-sees-of-its-requests) of a request of its own; not of a process").Since("1.3")
	f.Flag("only_request", &r.OnlyRequest).Says("the attempt made this one request and no other: the host saw it, or the caller says so").Default("false").Since("1.3")
}

// Check implements fields.Checker.
func (r *Result) Check(c *fields.Checked) {
	r.Stdout.check(c, "stdout", "stdout_head", "stdout_tail")
	r.Stderr.check(c, "stderr", "stderr_head", "stderr_tail")
	r.Message.check(c, "message", "message_head", "message_tail")
	if r.Failure != "" && r.IsProcess() {
		c.Fault("failure", "belongs to a request, not to a process")
	}
}

// fields are the three members of a text: all of it, or its head and its tail.
// They are named in full, since putting names together costs the plugin more
// than reading a member.
func (t *Text) fields(f *fields.List, whole, head, tail, what string) {
	f.String(whole, &t.Head, 0).OmitIf(t.Cut).As("text", MaxTextBytes).Says(what).Default("`\"\"`")
	f.String(head, &t.Head, 0).Always(true).OmitIf(!t.Cut).As("text", MaxTextBytes).Says("instead of all of it, where that is too long: its start")
	f.String(tail, &t.Tail, 0).Always(true).OmitIf(!t.Cut).As("text", MaxTextBytes).Says("and its end")
}

func (t *Text) check(c *fields.Checked, whole, head, tail string) {
	t.Cut = c.Has(head) || c.Has(tail)
	if t.Cut && c.Has(whole) {
		c.Fault(whole, "cannot stand beside its own head or tail")
	}
	if len(t.Head)+len(t.Tail) > MaxTextBytes {
		c.Fault(whole, "is longer than the 65536 bytes allowed: send its head and its tail")
	}
}

// anyNumber is the form of a number that is the server's word and not the
// host's: a fraction is rounded up and a huge one cut, never refused.
type anyNumber struct{ at **int64 }

func (n anyNumber) Read(r *fields.Reader) {
	if r.Expect(strictjson.Number) {
		is, _ := strictjson.Scaled(r.In.Number(), 0)
		*n.at = &is
	}
}

func (n anyNumber) Write(w *fields.Writer)   { w.Int(**n.at) }
func (n anyNumber) IsDefault() bool          { return *n.at == nil }
func (n anyNumber) Clear()                   { *n.at = nil }
func (n anyNumber) Describe(a *fields.About) { a.Kind = "number" }
