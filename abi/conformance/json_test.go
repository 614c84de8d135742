package conformance

import "testing"

func TestSame(t *testing.T) {
	for _, test := range []struct {
		want, got string
		problems  int
	}{
		{`{"a":1,"b":[1,2]}`, `{"b":[1.0,2e0],"a":1}`, 0},
		{`{"a":1}`, `{"a":2}`, 1},
		{`{"a":1}`, `{"a":"1"}`, 1},
		{`{"a":1}`, `{}`, 1},
		{`{}`, `{"a":1}`, 1},
		{`{"a":null}`, `{}`, 1},
		{`[1,2]`, `[2,1]`, 1},
		{`9007199254740990`, `9007199254740991`, 1},
		{`{"a":{"b":1,"c":2}}`, `{"a":{"b":2,"c":1}}`, 2},
		{`{`, `{}`, 1},
		{`{}`, `{`, 1},
	} {
		if got := same("x", []byte(test.want), []byte(test.got)); len(got) != test.problems {
			t.Errorf("%s and %s: %q", test.want, test.got, got)
		}
	}
}

func TestIncludes(t *testing.T) {
	want, got := map[string]any{"a": map[string]any{"b": 1.0}}, map[string]any{"a": map[string]any{"b": 1.0, "c": 2.0}, "d": 3.0}
	if problems := includes("x", want, got); problems != nil {
		t.Errorf("members that are not wanted are not compared: %q", problems)
	}
	if problems := includes("x", got, want); len(problems) != 2 {
		t.Errorf("members that are wanted must be there: %q", problems)
	}
}

func TestOpened(t *testing.T) {
	for _, text := range []string{
		``, `{}`, `[]`, `{"v":1}`, `{"ok":{}}`, `{"v":2,"ok":{}}`, `{"v":1,"ok":{},"error":{"code":"c","message":"m"}}`,
		`{"v":1,"error":{}}`, `{"v":1,"error":{"code":"c"}}`, `{"v":"1","ok":{}}`,
	} {
		if _, err := opened([]byte(text)); err == nil {
			t.Errorf("%s is taken for an envelope", text)
		}
	}
	for _, text := range []string{`{"v":1,"ok":{}}`, `{"v":1,"error":{"code":"c","message":"m"},"later":true}`} {
		if _, err := opened([]byte(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestMismatchComparesFaults(t *testing.T) {
	got := &envelopeError{Code: "c", Field: "f"}
	got.Faults = append(got.Faults, struct {
		Field string `json:"field"`
	}{"f"})
	if problems := mismatch(&WantError{Code: "c", Field: "f", Faults: []string{"f"}}, got); problems != nil {
		t.Error(problems)
	}
	if problems := mismatch(&WantError{Code: "c", Field: "f", Faults: []string{"f", "g"}}, got); len(problems) != 1 {
		t.Error(problems)
	}
}
