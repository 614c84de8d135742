package show

import (
	"strconv"
	"time"

	"outlast/host"
)

// waits knows the windows of a call's budgets from its waits.
type waits struct {
	from    *time.Duration // when the event that the next wait counts from was, on the call's clock; nil: it is not known
	loading bool           // the server was seen last to be there, and not ready
	window  map[string]window
	last    wait
}

// window is the time since a budget's first failure.
type window struct {
	opened time.Time
	total  time.Duration // 0: the budget has no window
}

// wait is one wait of a call.
type wait struct {
	window
	kind    string    // of the failure, or that the server loads
	attempt int64     // that follows
	due     time.Time // when it does
}

// add notes a wait that begins now. The first failure of a window has all of it
// left; from then on the window is what is left and what has passed.
func (w *waits) add(e *host.Waiting, now time.Time) *wait {
	failed := now
	if w.from != nil {
		failed = now.Add(-max(0, e.At-*w.from)) // it took so long to decide
	}
	win, known := w.window[e.Budget]
	switch {
	case e.Remaining != nil:
		win.total = max(win.total, *e.Remaining)
		win.opened = failed.Add(*e.Remaining - win.total)
	case !known:
		win.opened = failed
	}
	if w.window == nil {
		w.window = map[string]window{}
	}
	w.window[e.Budget] = win
	kind := e.Kind
	if w.loading {
		kind = "loading"
	}
	w.last = wait{window: win, kind: kind, attempt: e.Attempt, due: failed.Add(e.Delay)}
	return &w.last
}

// text counts down to the attempt, and then says that it runs. That does not
// change any more: the attempt may ask the user something on the terminal.
func (w *wait) text(now time.Time) (string, time.Duration) {
	attempt := "attempt " + strconv.FormatInt(w.attempt, 10)
	left := w.due.Sub(now)
	if left <= 0 {
		return w.kind + "; " + attempt + " running", 0
	}
	so := w.kind + " for " + seconds(now.Sub(w.opened).Round(time.Second))
	if w.total > 0 {
		so += " of " + seconds(w.total)
	}
	whole := (left + time.Second - 1).Truncate(time.Second) // "in 1 s" until it is time
	return so + "; " + attempt + " in " + seconds(whole), left - whole + time.Second
}

// seconds is a duration as people read it beside a policy's numbers: in
// seconds, with a decimal where there is one.
func seconds(d time.Duration) string {
	return strconv.FormatFloat(d.Round(100*time.Millisecond).Seconds(), 'f', -1, 64) + " s"
}
