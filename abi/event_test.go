package abi

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestEventRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawEvent(t)
		got, err := DecodeEvent(string(want.Encode()))
		if err != nil {
			t.Fatalf("%s: %v", want.Encode(), err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", want.Encode(), diff)
		}
	})
}

func TestSleptRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := Slept{
			Wait:   rapid.SampledFrom([]Wait{WaitFull, WaitWoken, WaitDown, WaitCancelled}).Draw(t, "wait"),
			NowUS:  drawInt(t, "now_us", -9007199254740991, 9007199254740991),
			Random: drawOptional(t, "random", 0, 1<<32-1),
		}
		if want.Wait == WaitWoken {
			want.By = drawReadiness(t)
		}
		got, err := DecodeSlept(string(want.Encode()))
		if err != nil {
			t.Fatalf("%s: %v", want.Encode(), err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", want.Encode(), diff)
		}
	})
}

func TestNowRoundTrip(t *testing.T) {
	for _, want := range []int64{0, -1, 1, 9007199254740991, -9007199254740991} {
		if got, err := DecodeNow(string(EncodeNow(want))); err != nil || got != want {
			t.Errorf("got %d, %v; want %d", got, err, want)
		}
	}
}

func TestBadAnswersOfHostFunctions(t *testing.T) {
	now := func(text string) error { _, err := DecodeNow(text); return err }
	slept := func(text string) error { _, err := DecodeSlept(text); return err }
	event := func(text string) error { _, err := DecodeEvent(text); return err }
	for _, c := range []struct {
		decode               func(string) error
		text, field, message string
	}{
		{now, ``, "", "ends too early"},
		{now, `5`, "", "expected an object, not a number"},
		{now, `{}`, "now_us", "is missing"},
		{now, `{"now_us":1.5}`, "now_us", "expected a whole number"},
		{now, `{"now_us":9007199254740992}`, "now_us", "expected a whole number"},
		{now, `{"now_us":1,"unit":"us"}`, "unit", "is not a known field"},
		{slept, `{"now_us":1}`, "wait", "is missing"},
		{slept, `{"wait":"full"}`, "now_us", "is missing"},
		{slept, `{"wait":"slept","now_us":1}`, "wait", `expected one of "full", "woken", "down", "not_ready", "cancelled", not "slept"`},
		{slept, `{"wait":"woken","now_us":1}`, "by", "is missing"},
		{slept, `{"wait":"woken","now_us":1,"by":"up"}`, "by", `expected one of "accepting", "ready", not "up"`},
		{slept, `{"wait":"full","now_us":1,"random":-1}`, "random", "expected a whole number"},
		{slept, `{"wait":"full","now_us":1,"Random":1}`, "Random", "is not a known field"},
		{event, `{"type":"attempted","now_us":1}`, "result", "is missing"},
		{event, `{"type":"done","now_us":1}`, "type", "expected one of"},
		{event, `{"type":"cancelled","now_us":1}{}`, "", "unexpected data after the value"},
	} {
		checkBad(t, c.text, c.decode(c.text), c.field, c.message)
	}
}
