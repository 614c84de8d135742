// Package followed has the form of a policy that is followed: the envelope in which
// it is published, and the folder in which outlast policy pull keeps it for the hosts
// of a machine. docs/fleet.md describes both.
package followed

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"outlast/abi"
	"outlast/abi/fields"
	"outlast/abi/strictjson"
	"outlast/plugin/policy"
)

// formVersion is the version of both forms that this package reads and writes.
const formVersion = 1

// MaxEnvelopeBytes bounds an envelope: a document, and a choice for what is around it.
const MaxEnvelopeBytes = abi.MaxDocumentBytes + 16<<10

// Envelope is one release of a policy, as it is published and signed.
type Envelope struct {
	Name     string
	Serial   int64 // grows with each release
	Time     time.Time
	Expires  time.Time // zero: never
	Document string    // the policy document, JSON
	Policy   *policy.Document

	made, until string
}

// Fields implements fields.Message.
func (e *Envelope) Fields(f *fields.List) {
	version := int64(formVersion)
	f.Int("version", &version, formVersion, formVersion).Required()
	f.String("name", &e.Name, 64).Required().Says("the policy's, as in its document")
	f.Int("serial", &e.Serial, 1, fields.Most).Required().Says("grows with each release; a lower one is refused")
	f.String("time", &e.made, 64).Required().Says("when it was made, in RFC 3339")
	f.String("expires", &e.until, 64).Says("until when it may be taken, in RFC 3339").Default("for ever")
	f.Add("document", (*documentForm)(&e.Document)).Required()
}

// Check implements fields.Checker.
func (e *Envelope) Check(c *fields.Checked) {
	e.Time = readTime(c, "time", e.made)
	e.Expires = readTime(c, "expires", e.until)
	if !e.Expires.IsZero() && !e.Expires.After(e.Time) {
		c.Fault("expires", "is not after time")
	}
	if e.Document == "" {
		return
	}
	var err error
	if e.Policy, err = policy.Parse(e.Document); err != nil {
		for _, f := range faultsOf(err) {
			c.Fault(strictjson.Join("document", f.Field), f.Message)
		}
		return
	}
	if e.Policy.Name != e.Name {
		c.Fault("name", "is "+strictjson.Quote(e.Name)+", and the document's is "+strictjson.Quote(e.Policy.Name))
	}
}

func readTime(c *fields.Checked, member, text string) time.Time {
	if !c.Has(member) {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		c.Fault(member, `expected a time such as "2026-03-03T10:00:00Z", not `+strictjson.Quote(text))
	}
	return t.UTC()
}

// faultsOf are an error's faults; one that has none is a fault itself.
func faultsOf(err error) []strictjson.Fault {
	known := err.(*abi.Error)
	if len(known.Faults) > 0 {
		return known.Faults
	}
	return []strictjson.Fault{{Message: known.Message}}
}

// documentForm is the form of a document inside an envelope, as it stands there.
type documentForm string

func (d *documentForm) Read(r *fields.Reader) {
	if r.Expect(strictjson.Object) {
		*d = documentForm(r.In.Skip())
	}
}

func (d *documentForm) Write(w *fields.Writer)   { w.Raw(string(*d)) }
func (d *documentForm) IsDefault() bool          { return *d == "" }
func (d *documentForm) Clear()                   { *d = "" }
func (d *documentForm) Describe(a *fields.About) { a.Kind = "policy" }

// ParseEnvelope reads an envelope with its document. The error is an *abi.Error that
// has every fault of both.
func ParseEnvelope(text string) (*Envelope, error) { return parseEnvelope(text, fields.Strict) }

func parseEnvelope(text string, open fields.Openness) (*Envelope, error) {
	e := &Envelope{}
	if err := read(text, MaxEnvelopeBytes, open, e, "the envelope"); err != nil {
		return nil, err
	}
	return e, nil
}

// read reads a message whole.
func read(text string, most int, open fields.Openness, m fields.Message, what string) error {
	faults, err := fields.Read(text, strictjson.Limits{Bytes: most, Depth: abi.MaxDepth + 1}, open, m)
	switch {
	case err != nil:
		return &abi.Error{Code: abi.CodeInvalidPolicy, Message: what + " is not JSON as it must be: " + err.Error()}
	case len(faults) > 0:
		return &abi.Error{Code: abi.CodeInvalidPolicy, Field: faults[0].Field, Message: faults[0].Message, Faults: faults}
	}
	return nil
}

// Encode is the envelope as it is published. Times are kept to the second.
func (e *Envelope) Encode() []byte {
	e.made = e.Time.UTC().Format(time.RFC3339)
	if !e.Expires.IsZero() {
		e.until = e.Expires.UTC().Format(time.RFC3339)
	}
	return append(fields.Write(e), '\n')
}

// Seal is a document's envelope, to be signed and published. The error has all that
// is wrong with it.
func Seal(document string, serial int64, now time.Time, expires *time.Duration) ([]byte, error) {
	doc, err := policy.Parse(document)
	if err != nil {
		return nil, err
	}
	e := Envelope{Name: doc.Name, Serial: serial, Time: now, Document: strings.TrimSpace(document)}
	if expires != nil {
		e.Expires = now.Add(*expires)
	}
	text := e.Encode()
	_, err = ParseEnvelope(string(text))
	return text, err
}

// Digest identifies a text: "sha256:" and 64 hexadecimal digits, as registries have it.
func Digest(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}
