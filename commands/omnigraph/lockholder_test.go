package omnigraph

import "testing"

func TestHolderIsNamedForAMessage(t *testing.T) {
	for _, c := range []struct {
		holder Holder
		want   string
	}{
		{Holder{}, "a process that cannot be seen from here"},
		{Holder{PID: 7}, "process 7"},
		{Holder{PID: 7, Name: "python3"}, "python3 (process 7)"},
		{Holder{PID: 7, Name: "a\x1b[31m\nb"}, "a?[31m?b (process 7)"},
		{Holder{PID: 7, Name: "a\xffb"}, "a�b (process 7)"},
	} {
		if got := c.holder.String(); got != c.want {
			t.Errorf("%+v: %q, want %q", c.holder, got, c.want)
		}
	}
}
