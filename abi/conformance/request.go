package conformance

import (
	"context"
	"encoding/json"
)

// checkRequest calls an export once. Of an ok, the members that the case has
// are compared; of an error, its code and its field.
func checkRequest(ctx context.Context, p Plugin, c *Case) []string {
	answer, err := p.Call(ctx, c.Export, c.Request(), silent{})
	if err != nil {
		return []string{err.Error()}
	}
	e, err := opened(answer)
	if err != nil {
		return []string{err.Error()}
	}
	if problems := mismatch(c.WantError, e.Error); problems != nil || c.WantError != nil {
		return problems
	}
	want, err := decoded(c.Want)
	if err != nil {
		return []string{"want: " + err.Error()}
	}
	got, err := decoded(e.OK)
	if err != nil {
		return []string{"ok: " + err.Error()}
	}
	return includes("ok", want, got)
}

// silent is a host that fails: a request has no script.
type silent struct{}

func (silent) Now(context.Context) []byte             { return nil }
func (silent) Sleep(context.Context, []byte) []byte   { return nil }
func (silent) Attempt(context.Context, []byte) []byte { return nil }

// requestOf is a request of decide or run.
type requestOf struct {
	Policy  json.RawMessage `json:"policy"`
	Call    json.RawMessage `json:"call"`
	State   string          `json:"state,omitempty"`
	Event   json.RawMessage `json:"event,omitempty"` // of decide
	First   json.RawMessage `json:"first,omitempty"` // of run
	Explain bool            `json:"explain,omitempty"`
}

// bytes is the request as JSON. Its parts have been read from JSON, so that
// they are valid.
func (r *requestOf) bytes() []byte {
	b, err := json.Marshal(r)
	if err != nil {
		panic("conformance: " + err.Error())
	}
	return b
}
