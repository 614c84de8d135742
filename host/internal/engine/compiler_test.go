package engine

import "testing"

func TestCanCompile(t *testing.T) {
	for _, test := range []struct {
		processor string
		sse41     bool
		want      bool
	}{
		{"amd64", true, true}, {"amd64", false, false}, {"arm64", false, true}, {"riscv64", false, false}, {"386", true, false},
	} {
		if got := canCompile(test.processor, test.sse41); got != test.want {
			t.Errorf("%+v: %v", test, got)
		}
	}
}
