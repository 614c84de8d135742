package policy

import (
	"runtime"
	"testing"

	"outlast/abi"
)

// middle is a decide request in the middle of an outage, as a host sends it.
func middle(tb testing.TB) abi.DecideRequest {
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
	doc, err := BuiltIn("omnigraph")
	if err != nil {
		tb.Fatal(err)
	}
	for range 6 {
		_, state, err := Decide(doc, &r.Call, r.State, &r.Event, false)
		if err != nil {
			tb.Fatal(err)
		}
		r.State = state
		r.Event.NowUS += 1_000_000
	}
	return r
}

func BenchmarkParts(b *testing.B) {
	r := middle(b)
	text := string(r.Encode())
	b.Logf("%d bytes", len(text))
	doc, _ := BuiltIn("omnigraph")
	action, state, _ := Decide(doc, &r.Call, r.State, &r.Event, false)
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := abi.DecodeDecide(text); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("decide", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, _, err := Decide(doc, &r.Call, r.State, &r.Event, false); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("state", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s, err := decodeState(doc, r.State)
			if err != nil {
				b.Fatal(err)
			}
			s.encode(doc)
		}
	})
	b.Run("view", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			newView(r.Event.Result)
		}
	})
	v := newView(r.Event.Result)
	b.Run("recognise", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			doc.recognise(&r.Call, v)
		}
	})
	b.Run("encode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			abi.EncodeDecision(&action, state)
		}
	})
	b.Run("gosched", func(b *testing.B) {
		for b.Loop() {
			runtime.Gosched()
		}
	})
	b.Run("gc", func(b *testing.B) {
		for b.Loop() {
			runtime.GC()
		}
	})
}
