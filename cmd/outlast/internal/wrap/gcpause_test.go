package wrap

import (
	"runtime/debug"
	"testing"

	"outlast/host"
)

// The garbage collector is kept from the loading of the plugin, and from nothing else:
// a command may run, and be waited for, for hours.
func TestGCPausesForTheLoadingOnly(t *testing.T) {
	const usual = 73
	defer debug.SetGCPercent(debug.SetGCPercent(usual))
	percent := func() int {
		now := debug.SetGCPercent(usual)
		debug.SetGCPercent(now)
		return now
	}
	var pause gcPause
	for _, step := range []struct {
		event host.Event
		want  int
	}{
		{host.AttemptEnded{Attempt: 1, OK: true}, usual},
		{host.AttemptEnded{Attempt: 1}, loadingGC},
		{host.Loaded{}, usual},
		{host.Waiting{}, usual},
		{host.AttemptEnded{Attempt: 2}, usual},
	} {
		pause.observe(step.event)
		if got := percent(); got != step.want {
			t.Errorf("after %+v the collector runs at %d %%, want %d", step.event, got, step.want)
		}
	}
}
