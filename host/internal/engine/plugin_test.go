package engine

import (
	"bytes"
	"strings"
	"testing"

	"outlast/abi"
	"outlast/plugin"
)

// refused is a decision that a real host asks for: the server is away.
func refused() []byte {
	seed, code := int64(1), int64(1)
	r := abi.DecideRequest{
		Policy: abi.PolicyRef{Name: "omnigraph"},
		Call:   abi.Call{Label: "query", Remote: true, ConnectRetry: true, Seed: &seed},
		Event: abi.Event{Type: abi.Attempted, NowUS: 1_000_000, Result: &abi.Result{ExitCode: &code, Stderr: abi.Text{Head: `Error: 
   0: error sending request for url (http://127.0.0.1:8080/graphs/people/query)
   1: client error (Connect)
   2: tcp connect error
   3: Connection refused (os error 111)

Location:
   crates/omnigraph-cli/src/client.rs:679
`}}},
	}
	return r.Encode()
}

// largest is a request of abi.MaxRequestBytes: three texts of the largest size,
// each byte written as an escape, and blanks.
func largest() []byte {
	text := `"` + strings.Repeat(`\u0078`, abi.MaxTextBytes) + `"`
	request := bytes.Replace(refused(), []byte(`"exit_code":1`), []byte(`"exit_code":1,"stdout":`+text+`,"message":`+text), 1)
	return append(request, bytes.Repeat([]byte{' '}, abi.MaxRequestBytes-len(request))...)
}

// TestTheEmbeddedPlugin makes a decision, and then the largest ones, which one
// instance must take within its memory as often as they come.
func TestTheEmbeddedPlugin(t *testing.T) {
	if err := Verify(plugin.Wasm); err != nil {
		t.Fatal(err)
	}
	e, _ := open(t, Options{Wasm: plugin.Wasm, Mode: Compiler})
	i := newInstance(t, e)
	for n, request := range [][]byte{refused(), largest(), largest(), largest(), refused()} {
		out, err := i.Call(t.Context(), abi.ExportDecide, request, nil)
		if err != nil {
			t.Fatalf("call %d: %v", n, err)
		}
		action, state, err := abi.DecodeDecision(string(out))
		if err != nil || action.Type == "" || state == "" {
			t.Errorf("call %d: %+v, %q, %v", n, action, state, err)
		}
		if n == 0 && (action.Type != abi.Retry || action.Kind != "unavailable") {
			t.Errorf("call %d: %+v", n, action)
		}
	}
	if size := i.module.Memory().Size(); size > MemoryLimit*3/4 {
		t.Errorf("the guest has %d of %d bytes", size, MemoryLimit)
	} else {
		t.Logf("the guest has %d MiB", size>>20)
	}
}
