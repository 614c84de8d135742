package abi

import (
	"errors"
	"testing"

	"outlast/abi/strictjson"
)

func TestEncodeError(t *testing.T) {
	for want, err := range map[string]error{
		`{"v":1,"error":{"code":"internal","message":"boom"}}`:                        errors.New("boom"),
		`{"v":1,"error":{"code":"bad_state","message":"is damaged","field":"state"}}`: &Error{Code: CodeBadState, Message: "is damaged", Field: "state"},
		`{"v":1,"error":{"code":"invalid_policy","message":"m","faults":[{"field":"","message":"m"}]}}`: &Error{
			Code: CodeInvalidPolicy, Message: "m", Faults: []strictjson.Fault{{Message: "m"}}},
	} {
		if got := string(EncodeError(err)); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestErrorText(t *testing.T) {
	if got := (&Error{Code: "c", Message: "m"}).Error(); got != "c: m" {
		t.Errorf("got %q", got)
	}
	if got := (&Error{Code: "c", Message: "m", Field: "f"}).Error(); got != "c: f: m" {
		t.Errorf("got %q", got)
	}
}

func TestEncodeChecked(t *testing.T) {
	const want = `{"v":1,"ok":{"policy":{"version":1},"digest":"d"}}`
	if got := string(EncodeChecked(`{"version":1}`, "d")); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
