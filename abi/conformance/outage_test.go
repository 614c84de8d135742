package conformance

import (
	"fmt"
	"testing"
)

func worldOf(o *Outage) *world {
	o.Down, o.Up = []byte(`{"exit_code":1}`), []byte(`{"exit_code":0}`)
	return &world{o: o}
}

func ptr[T any](v T) *T { return &v }

func TestWorldEndsTheOutage(t *testing.T) {
	w := worldOf(&Outage{UpUS: ptr[int64](100), TakesUS: 10, FirstTakesUS: ptr[int64](30), UpTakesUS: 5, Random: ptr[int64](8)})
	for i, test := range []struct {
		sleep int
		want  string
	}{
		{0, `{"type":"attempted","now_us":30,"random":8,"result":{"exit_code":1}}`},
		{69, `{"type":"attempted","now_us":109,"random":8,"result":{"exit_code":1}}`}, // it began at 99
		{1, `{"type":"attempted","now_us":115,"random":8,"result":{"exit_code":0}}`},
	} {
		if test.sleep > 0 {
			w.Sleep(t.Context(), fmt.Appendf(nil, `{"delay_us":%d}`, test.sleep))
		}
		if got := string(w.Attempt(t.Context(), nil)); got != test.want {
			t.Errorf("%d: want %s, got %s", i, test.want, got)
		}
	}
	if got := text(w.starts); got != "[0,99,110]" {
		t.Errorf("starts %s", got)
	}
}

func TestWorldWithoutAnEnd(t *testing.T) {
	w := worldOf(&Outage{})
	w.now = 1 << 53
	if got := string(w.Attempt(t.Context(), nil)); got != `{"type":"attempted","now_us":9007199254740992,"result":{"exit_code":1}}` {
		t.Errorf("got %s", got)
	}
}

func TestWorldNotices(t *testing.T) {
	for _, test := range []struct{ notices, wake, want string }{
		{"ready", `,"wake":{"by":"ready"}`, `{"wait":"woken","by":"ready","now_us":100}`},
		{"ready", `,"wake":{"by":"accepting"}`, `{"wait":"woken","by":"ready","now_us":100}`},
		{"accepting", `,"wake":{"by":"accepting"}`, `{"wait":"woken","by":"accepting","now_us":100}`},
		{"accepting", `,"wake":{"by":"ready"}`, `{"wait":"full","now_us":150}`},
		{"", `,"wake":{"by":"accepting"}`, `{"wait":"full","now_us":150}`},
		{"ready", ``, `{"wait":"full","now_us":150}`},
		{"ready", `,"wake":{"by":"ready","after_us":120}`, `{"wait":"woken","by":"ready","now_us":120}`},
		{"ready", `,"wake":{"by":"ready","after_us":150}`, `{"wait":"full","now_us":150}`},
	} {
		w := worldOf(&Outage{UpUS: ptr[int64](100), Notices: test.notices})
		if got := string(w.Sleep(t.Context(), []byte(`{"delay_us":150`+test.wake+`}`))); got != test.want {
			t.Errorf("%s%s: want %s, got %s", test.notices, test.wake, test.want, got)
		}
	}
}

func TestWorldWatches(t *testing.T) {
	for _, test := range []struct {
		now        int64
		wake, want string
	}{
		{0, `,"wake":{"by":"ready"}`, `{"wait":"down","now_us":50,"random":9}`},
		{0, ``, `{"wait":"full","now_us":50}`},
		{50, `,"wake":{"by":"ready"}`, `{"wait":"full","now_us":100}`},
	} {
		w := worldOf(&Outage{UpUS: ptr[int64](100), Notices: "accepting", Watches: true, Random: ptr[int64](9)})
		w.now = test.now
		if got := string(w.Sleep(t.Context(), []byte(`{"delay_us":50`+test.wake+`}`))); got != test.want {
			t.Errorf("at %d%s: want %s, got %s", test.now, test.wake, test.want, got)
		}
	}
	w := worldOf(&Outage{Watches: true})
	if got := string(w.Sleep(t.Context(), []byte(`{"delay_us":50,"wake":{"by":"ready"}}`))); got != `{"wait":"down","now_us":50}` {
		t.Errorf("for ever: %s", got)
	}
}
