package conformance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const wantsWrong = `{
  "about": "a",
  "cases": [
    {
      "name": "right",
      "why": "It is left alone, odd  spaces included.",
      "policy": "omnigraph", "call": {"remote": true, "write": false, "started_us": 0},
      "steps": [{"cancelled": true, "want": {"type": "stop", "outcome": {"type": "cancelled", "effects": "none", "attempts": 0, "elapsed_us": 0, "message": "cancelled after 0 attempts over 0 s", "history": []}}}]
    },
    {
      "name": "wrong", "why": "w", "policy": "omnigraph", "call": {"remote": true, "write": false, "started_us": 0},
      "steps": [{"attempt": {"timed_out": true}, "random": 0, "want": {"type": "stop"}}, {"woken": "ready", "after_us": 9, "want": {"type": "stop"}}]
    },
    {"name": "asked", "why": "Requests are left alone too.", "export": "decide", "raw": "", "want": {}}
  ]
}
`

func TestUpdate(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "a.json")
	if err := os.WriteFile(file, []byte(wantsWrong), 0o600); err != nil {
		t.Fatal(err)
	}
	changed, err := Update(t.Context(), direct{}, folder)
	if err != nil || len(changed) != 1 || changed[0] != "wrong" {
		t.Fatalf("changed %v, %v", changed, err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"delay_us": 550000`, `"want_error": {"code": "bad_request", "field": "event.random"}`, `"odd  spaces`[1:], `"raw": "", "want": {}`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("there is no %s in\n%s", want, text)
		}
	}
	if changed, err := Update(t.Context(), direct{}, folder); err != nil || changed != nil {
		t.Errorf("a second update changes %v, %v", changed, err)
	}
}

func TestUpdateOfNothing(t *testing.T) {
	if _, err := Update(t.Context(), direct{}, filepath.Join(t.TempDir(), "none")); err != nil {
		t.Errorf("a folder without cases: %v", err)
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "a.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Update(t.Context(), direct{}, folder); err == nil {
		t.Error("half a file is accepted")
	}
}
