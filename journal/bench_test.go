package journal

import (
	"fmt"
	"testing"
)

// BenchmarkWrite is what the journal adds to a write that succeeds at once.
func BenchmarkWrite(b *testing.B) {
	for _, noSync := range []bool{false, true} {
		b.Run(fmt.Sprintf("fsync=%t", !noSync), func(b *testing.B) {
			j, n := open(b, Options{NoSync: noSync}), 0
			for b.Loop() {
				n++
				made := Made([]string{"write", fmt.Sprint(n)}, "/", "")
				run, _, err := j.Begin(b.Context(), made, line)
				if err == nil {
					err = run.Attempt(1)
				}
				if err == nil {
					err = run.Finish(End{Outcome: "ok"})
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
