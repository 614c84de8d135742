package show

import (
	"strconv"
	"time"

	"outlast/internal/progress"
)

// wait is a wait of the call, at times of the day.
type wait struct {
	what    string // is the matter: the failure's kind, or that the server loads
	attempt int64  // that follows
	opened  time.Time
	window  time.Duration // 0: the budget has none
	due     time.Time
}

// newWait is a wait on a clock that began at zero.
func newWait(w *progress.Wait, zero time.Time) wait {
	what := w.Kind
	if w.Loading {
		what = "not ready"
	}
	return wait{what, w.Attempt, zero.Add(w.Opened), w.Window, zero.Add(w.Due)}
}

// text counts down to the attempt, and then says that it runs. That does not
// change any more: the attempt may ask the user something on the terminal.
func (w wait) text(now time.Time) (string, time.Duration) {
	attempt := "attempt " + strconv.FormatInt(w.attempt, 10)
	left := w.due.Sub(now)
	if left <= 0 {
		return w.what + "; " + attempt + " running", 0
	}
	so := w.what + " for " + seconds(now.Sub(w.opened).Round(time.Second))
	if w.window > 0 {
		so += " of " + seconds(w.window)
	}
	whole := (left + time.Second - 1).Truncate(time.Second) // "in 1 s" until it is time
	return so + "; " + attempt + " in " + seconds(whole), left - whole + time.Second
}

// seconds is a duration as people read it beside a policy's numbers: in
// seconds, with a decimal where there is one.
func seconds(d time.Duration) string {
	return strconv.FormatFloat(d.Round(100*time.Millisecond).Seconds(), 'f', -1, 64) + " s"
}
