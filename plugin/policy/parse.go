package policy

import (
	"hash/fnv"
	"strings"

	"outlast/abi"
	"outlast/abi/fields"
	"outlast/abi/strictjson"
)

// byteOrderMark is what editors on Windows write before a text.
const byteOrderMark = "\ufeff"

// Parse reads a policy document, which a byte order mark may precede. Its faults are
// all reported, in an *abi.Error of code invalid_policy.
func Parse(text string) (*Document, error) {
	doc, err := parse(strings.TrimPrefix(text, byteOrderMark), abi.MaxDocumentBytes)
	if _, ok := err.(*strictjson.SyntaxError); ok {
		return nil, &abi.Error{Code: abi.CodeInvalidPolicy, Message: "the policy is not JSON as it must be: " + err.Error()}
	}
	return doc, err
}

// ParseWithin is Parse for a document inside a request, whose size is bounded by
// the request's.
func ParseWithin(text string) (*Document, error) { return parse(text, abi.MaxRequestBytes) }

func parse(text string, most int) (*Document, error) {
	doc := &Document{}
	faults, err := fields.Read(text, strictjson.Limits{Bytes: most, Depth: abi.MaxDepth}, fields.Strict, doc)
	if err != nil {
		return nil, err
	}
	if len(faults) > 0 {
		return nil, &abi.Error{Code: abi.CodeInvalidPolicy, Message: faults[0].Message, Field: faults[0].Field, Faults: faults}
	}
	doc.Normal = doc.normal()
	doc.Digest = digest(doc.Normal)
	return doc, nil
}

// normal writes the document with every default filled in, in one order, so
// that equal policies have equal texts.
func (d *Document) normal() string { return string(fields.Write(d)) }

// digest identifies a document. It guards against mistakes, not against
// forgery, so a hash that costs the plugin nothing is enough (SHA-256 adds
// 160 KB to it).
func digest(text string) string {
	h := fnv.New128a()
	h.Write([]byte(text))
	const digits = "0123456789abcdef"
	var out []byte
	for _, b := range h.Sum(nil) {
		out = append(out, digits[b>>4], digits[b&15])
	}
	return string(out)
}
