package policy

import "outlast/abi/strictjson"

// normal writes the document with every default filled in, in one order, so
// that equal policies have equal texts.
func (d *Document) normal() string {
	var w strictjson.Writer
	w.Open('{')
	w.Name("version")
	w.Int(DocumentVersion)
	w.StringMember("name", d.Name)
	w.StringMember("description", d.Description)
	w.Name("measured")
	w.Open('[')
	for _, m := range d.Measured {
		w.Open('{')
		w.StringMember("name", m.Name)
		writeDuration(&w, "duration", m.Duration)
		w.StringMember("down", m.Down)
		w.StringMember("up", m.Up)
		w.StringMember("source", m.Source)
		w.Close('}')
	}
	w.Close(']')
	if d.KeepColours {
		w.StringMember("colours", "kept")
	}
	if d.Account {
		w.StringMember("account", "command_outcome")
	}
	w.Name("budgets")
	w.Open('{')
	for i := range d.Budgets {
		w.Name(d.Budgets[i].Name)
		d.Budgets[i].write(&w)
	}
	w.Close('}')
	w.Name("rules")
	w.Open('[')
	for i := range d.Rules {
		d.writeRule(&w, &d.Rules[i])
	}
	w.Close(']')
	w.Close('}')
	return string(w.Bytes)
}

func writeDuration(w *strictjson.Writer, name string, micros int64) {
	if micros != 0 {
		w.StringMember(name, formatDuration(micros))
	}
}

func writeFraction(w *strictjson.Writer, name string, ppm int64) {
	w.Name(name)
	w.Raw(decimalOf(ppm, 6))
}

func (b *Budget) write(w *strictjson.Writer) {
	w.Open('{')
	writeDuration(w, "max_wait", b.MaxWait)
	w.IntMember("attempts", b.Attempts)
	w.IntMember("windows", b.Windows)
	if b.Broken >= 0 {
		w.Name("broken_connections")
		w.Int(b.Broken)
	}
	w.Name("backoff")
	b.Backoff.write(w)
	w.StringMember("call_budget", string(b.CallBudget))
	if b.RetryAfter != nil {
		w.Name("retry_after")
		w.Open('{')
		writeDuration(w, "max", b.RetryAfter.Max)
		writeFraction(w, "jitter", b.RetryAfter.Jitter)
		if b.RetryAfter.Floor {
			w.StringMember("floor", "backoff")
		}
		w.Close('}')
	}
	if b.Wake != nil {
		w.Name("wake")
		w.Open('{')
		w.StringMember("reads", string(b.Wake.Reads))
		w.StringMember("writes", string(b.Wake.Writes))
		writeDuration(w, "spread", b.Wake.Spread)
		writeDuration(w, "hold_off", b.Wake.HoldOff)
		w.IntMember("max_vain", b.Wake.MaxVain)
		w.Close('}')
	}
	w.Close('}')
}

func (d *Document) writeRule(w *strictjson.Writer, r *Rule) {
	w.Open('{')
	w.StringMember("kind", r.Kind)
	w.StringMember("server", string(r.Server))
	if len(r.When) > 0 {
		w.Name("when")
		w.Open('[')
		for i := range r.When {
			r.When[i].write(w)
		}
		w.Close(']')
	}
	w.Name("then")
	w.Open('[')
	for i := range r.Then {
		d.writeBranch(w, &r.Then[i])
	}
	w.Close(']')
	w.Close('}')
}

func (c *Condition) write(w *strictjson.Writer) {
	w.Open('{')
	w.StringMember("transport", c.Transport)
	writeInts(w, "exit_codes", c.ExitCodes)
	writeWords(w, "signals", c.Signals)
	writeInts(w, "http_statuses", c.Statuses)
	w.StringMember("form", string(c.Form))
	writeWords(w, "codes", c.Codes)
	writeBool(w, "details", c.Details)
	w.TrueMember("timed_out", c.TimedOut)
	writeBool(w, "write", c.Write)
	writeWords(w, "sent", c.Sent)
	w.StringMember("effects", string(c.Effects))
	w.IntMember("cause_count", c.CauseCount)
	if len(c.Text) > 0 {
		w.Name("text")
		w.Open('[')
		for i := range c.Text {
			c.Text[i].write(w)
		}
		w.Close(']')
	}
	w.StringMember("proof", string(c.Proof))
	w.Close('}')
}

func (t *TextTest) write(w *strictjson.Writer) {
	w.Open('{')
	w.StringMember("in", string(t.In))
	if t.In == InCause {
		w.Name("at")
		w.Int(t.At)
	}
	writeMarkers(w, "is", t.Is)
	writeMarkers(w, "starts", t.Starts)
	writeMarkers(w, "any", t.Any)
	writeMarkers(w, "all", t.All)
	writeMarkers(w, "none", t.None)
	w.Close('}')
}

func (d *Document) writeBranch(w *strictjson.Writer, b *Branch) {
	w.Open('{')
	if b.If != (If{}) {
		w.Name("if")
		w.Open('{')
		writeBool(w, "remote", b.If.Remote)
		writeBool(w, "write", b.If.Write)
		writeBool(w, "surface_conflict", b.If.SurfaceConflict)
		writeBool(w, "connect_retry", b.If.ConnectRetry)
		w.Close('}')
	}
	if b.Retry >= 0 {
		w.StringMember("retry", d.Budgets[b.Retry].Name)
	}
	if b.Repair != nil {
		w.Name("repair")
		w.Open('{')
		w.StringMember("times", pick(b.Repair.Once, "once", "each"))
		w.TrueMember("force", b.Repair.Force)
		w.StringMember("on_failure", pick(b.Repair.StopFail, "stop", "continue"))
		w.Close('}')
	}
	if b.Stop != nil {
		w.Name("stop")
		w.Open('{')
		w.StringMember("effects", string(b.Stop.Effects))
		w.StringMember("outcome", string(b.Stop.Outcome))
		w.StringMember("remedy", b.Stop.Remedy)
		w.Close('}')
	}
	w.Close('}')
}

func pick(cond bool, yes, no string) string {
	if cond {
		return yes
	}
	return no
}

func writeBool(w *strictjson.Writer, name string, v *bool) {
	if v != nil {
		w.Name(name)
		w.Bool(*v)
	}
}

func writeInts(w *strictjson.Writer, name string, list []int64) {
	if len(list) == 0 {
		return
	}
	w.Name(name)
	w.Open('[')
	for _, n := range list {
		w.Int(n)
	}
	w.Close(']')
}

func writeWords[S ~string](w *strictjson.Writer, name string, list []S) {
	if len(list) == 0 {
		return
	}
	w.Name(name)
	w.Open('[')
	for _, s := range list {
		w.String(string(s))
	}
	w.Close(']')
}

func writeMarkers(w *strictjson.Writer, name string, list []Marker) {
	var words []string
	for _, m := range list {
		words = append(words, m.Text)
	}
	writeWords(w, name, words)
}
