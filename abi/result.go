package abi

import (
	"unicode/utf8"

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
}

// OK says whether the attempt succeeded: exit code 0, or a 2xx status without
// a message.
func (r *Result) OK() bool {
	if r.TimedOut || r.Signal != "" {
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

func readResult(f *strictjson.Faults, v strictjson.Value, path string) *Result {
	m := f.Members(v, path)
	r := &Result{
		ExitCode:     optionalInt(m, "exit_code", -strictjson.MaxInteger),
		Signal:       m.String("signal"),
		Stdout:       readText(m, "stdout"),
		Stderr:       readText(m, "stderr"),
		HTTPStatus:   optionalInt(m, "http_status", 0),
		Message:      readText(m, "message"),
		RetryAfterUS: retryAfter(m),
		StartedUS:    optionalInt(m, "started_us", -strictjson.MaxInteger),
		EndedUS:      optionalInt(m, "ended_us", -strictjson.MaxInteger),
		TimedOut:     m.Bool("timed_out", false),
		Streamed:     m.Bool("streamed", false),
		Sent:         Sent(m.OneOf("sent", string(SentUnknown), string(SentNo), string(SentYes))),
	}
	if len(r.Signal) > maxSignalName {
		m.Fault("signal", "is not a signal's name")
	}
	m.End()
	return r
}

func optionalInt(m *strictjson.Members, name string, low int64) *int64 {
	n, ok := m.Int(name, low, strictjson.MaxInteger)
	if !ok {
		return nil
	}
	return &n
}

// retryAfter takes any number: a header is the server's word, not the host's,
// so a fraction is rounded up and a huge one cut, never refused.
func retryAfter(m *strictjson.Members) *int64 {
	v := m.Value("retry_after_us")
	switch v.Kind {
	case strictjson.Missing:
		return nil
	case strictjson.Number:
		n, _ := strictjson.Scaled(v.Text, 0)
		return &n
	}
	m.Fault("retry_after_us", "expected a number, not "+v.Kind.String())
	return nil
}

func readText(m *strictjson.Members, name string) Text {
	t := Text{Head: m.String(name)}
	if m.Has(name+"_head") || m.Has(name+"_tail") {
		if m.Has(name) {
			m.Fault(name, "cannot stand beside its own head or tail")
		}
		t = Text{Head: m.String(name + "_head"), Tail: m.String(name + "_tail"), Cut: true}
	}
	if len(t.Head)+len(t.Tail) > MaxTextBytes {
		m.Fault(name, "is longer than the 65536 bytes allowed: send its head and its tail")
	}
	return t
}

func (r *Result) write(w *strictjson.Writer) {
	w.Open('{')
	writeOptional(w, "exit_code", r.ExitCode)
	w.StringMember("signal", r.Signal)
	writeText(w, "stdout", r.Stdout)
	writeText(w, "stderr", r.Stderr)
	writeOptional(w, "http_status", r.HTTPStatus)
	writeText(w, "message", r.Message)
	writeOptional(w, "retry_after_us", r.RetryAfterUS)
	writeOptional(w, "started_us", r.StartedUS)
	writeOptional(w, "ended_us", r.EndedUS)
	w.TrueMember("timed_out", r.TimedOut)
	w.TrueMember("streamed", r.Streamed)
	if r.Sent != SentUnknown {
		w.StringMember("sent", string(r.Sent))
	}
	w.Close('}')
}

func writeOptional(w *strictjson.Writer, name string, n *int64) {
	if n != nil {
		w.Name(name)
		w.Int(*n)
	}
}

func writeText(w *strictjson.Writer, name string, t Text) {
	if !t.Cut {
		w.StringMember(name, t.Head)
		return
	}
	w.Name(name + "_head")
	w.String(t.Head)
	w.Name(name + "_tail")
	w.String(t.Tail)
}
