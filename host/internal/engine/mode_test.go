package engine

import "testing"

func TestHowString(t *testing.T) {
	for how, want := range map[How]string{Interpreted: "interpreted", Compiled: "compiled"} {
		if got := how.String(); got != want {
			t.Errorf("%d: %q, want %q", how, got, want)
		}
	}
}
