package conformance

import (
	"encoding/json"
	"fmt"
	"reflect"
)

// decoded is a JSON text as Go has it. Numbers become float64, which keeps
// every integer of the contract.
func decoded(text []byte) (any, error) {
	var v any
	err := json.Unmarshal(text, &v)
	return v, err
}

// same says whether two JSON texts are equal once decoded; if not, how they differ.
func same(what string, want, got []byte) []string {
	w, err := decoded(want)
	if err != nil {
		return []string{fmt.Sprintf("%s: what is wanted is not JSON: %v", what, err)}
	}
	g, err := decoded(got)
	if err != nil {
		return []string{fmt.Sprintf("%s: not JSON: %v: %s", what, err, got)}
	}
	return differences(what, w, g, false)
}

// includes is same, but members that are not wanted are not compared.
func includes(what string, want, got any) []string {
	return differences(what, want, got, true)
}

// differences lists where got is not what is wanted, by the member's path.
func differences(path string, want, got any, open bool) []string {
	w, isObject := want.(map[string]any)
	g, gotObject := got.(map[string]any)
	if !isObject || !gotObject {
		if reflect.DeepEqual(want, got) {
			return nil
		}
		return []string{fmt.Sprintf("%s: want %s, got %s", path, text(want), text(got))}
	}
	var out []string
	for name, value := range w {
		other, ok := g[name]
		if !ok {
			out = append(out, fmt.Sprintf("%s.%s: want %s, got nothing", path, name, text(value)))
			continue
		}
		out = append(out, differences(path+"."+name, value, other, open)...)
	}
	for name, value := range g {
		if _, ok := w[name]; !ok && !open {
			out = append(out, fmt.Sprintf("%s.%s: want nothing, got %s", path, name, text(value)))
		}
	}
	return out
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}

// envelope is what an export answers.
type envelope struct {
	V     int             `json:"v"`
	OK    json.RawMessage `json:"ok"`
	Error *envelopeError  `json:"error"`
}

type envelopeError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Field   string `json:"field"`
	Faults  []struct {
		Field string `json:"field"`
	} `json:"faults"`
}

// opened reads an envelope, which has either an ok or an error that says why.
func opened(answer []byte) (*envelope, error) {
	var e envelope
	if err := json.Unmarshal(answer, &e); err != nil {
		return nil, fmt.Errorf("the answer is no envelope: %w: %.200s", err, answer)
	}
	if e.V != 1 || (e.OK == nil) == (e.Error == nil) || e.Error != nil && (e.Error.Code == "" || e.Error.Message == "") {
		return nil, fmt.Errorf("the answer is no envelope of version 1: %.200s", answer)
	}
	return &e, nil
}

// mismatch compares an envelope's error with the one wanted; nil wants none.
func mismatch(want *WantError, got *envelopeError) []string {
	switch {
	case want == nil && got == nil:
		return nil
	case want == nil:
		return []string{fmt.Sprintf("error %s of %q: %s", got.Code, got.Field, got.Message)}
	case got == nil:
		return []string{fmt.Sprintf("want the error %s of %q, got none", want.Code, want.Field)}
	case want.Code != got.Code || want.Field != got.Field:
		return []string{fmt.Sprintf("want the error %s of %q, got %s of %q: %s", want.Code, want.Field, got.Code, got.Field, got.Message)}
	case want.Faults != nil:
		fields := []string{}
		for _, fault := range got.Faults {
			fields = append(fields, fault.Field)
		}
		return differences("faults", any(text(want.Faults)), any(text(fields)), false)
	}
	return nil
}
