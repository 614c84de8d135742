package abi

import "testing"

// What a call does not say is what is safe or usual.
func TestCallDefaults(t *testing.T) {
	r, err := DecodeRun(`{"policy":"p","call":{"remote":true,"write":true}}`)
	if err != nil {
		t.Fatal(err)
	}
	if want := (Call{Remote: true, Write: true, ConnectRetry: true}); r.Call != want {
		t.Errorf("got %+v, want %+v", r.Call, want)
	}
	if r.First != nil || r.State != "" {
		t.Errorf("got %+v", r)
	}
}

func TestLabelOfAnyAllowedLength(t *testing.T) {
	call := Call{Label: string(make([]byte, MaxLabelBytes))}
	r := RunRequest{Policy: PolicyRef{Name: "p"}, Call: call}
	if got, err := DecodeRun(string(r.Encode())); err != nil || len(got.Call.Label) != MaxLabelBytes {
		t.Errorf("%v, %v", got.Call, err)
	}
}
