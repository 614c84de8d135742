package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
)

// world is a Host in virtual time, with a server that is away until a moment.
type world struct {
	o      *Outage
	now    int64
	starts []int64
}

// Now implements Host.
func (w *world) Now(context.Context) []byte {
	return fmt.Appendf(nil, `{"now_us":%d}`, w.now)
}

// Sleep implements Host. The host notices the server as soon as it may.
func (w *world) Sleep(_ context.Context, text []byte) []byte {
	a, err := readAction(text)
	if err != nil {
		return nil
	}
	if a.Wake != nil && w.o.UpUS != nil && enough(w.o.Notices, a.Wake.By) {
		seen := max(*w.o.UpUS, w.now+a.Wake.AfterUS)
		if seen < w.now+a.DelayUS {
			w.now = seen
			step := Step{Random: w.o.Random}
			return fmt.Appendf(nil, `{"wait":"woken","by":%q,"now_us":%d%s}`, w.o.Notices, w.now, step.random())
		}
	}
	w.now += a.DelayUS
	if w.o.Watches && a.Wake != nil && w.now < w.back() {
		step := Step{Random: w.o.Random}
		how := "down"
		if w.loads() {
			how = "not_ready"
		}
		return fmt.Appendf(nil, `{"wait":%q,"now_us":%d%s}`, how, w.now, step.random())
	}
	return fmt.Appendf(nil, `{"wait":"full","now_us":%d}`, w.now)
}

// enough says whether a readiness may wake whoever waits for another.
func enough(is, least string) bool {
	return is == "ready" || is == least
}

// Attempt implements Host.
func (w *world) Attempt(context.Context, []byte) []byte {
	w.starts = append(w.starts, w.now)
	step := Step{Attempt: w.o.Up, Random: w.o.Random}
	takes := w.o.UpTakesUS
	if w.now < w.back() {
		step.Attempt, takes = w.o.Down, w.o.TakesUS
		if w.loads() && w.o.Loading != nil {
			step.Attempt = w.o.Loading
		}
		if len(w.starts) == 1 && w.o.FirstTakesUS != nil {
			takes = *w.o.FirstTakesUS
		}
	}
	w.now += takes
	return step.event(w.now)
}

// loads says whether the server is there, if not yet up.
func (w *world) loads() bool {
	return w.o.ListensUS != nil && w.now >= *w.o.ListensUS
}

// back is when the server is up.
func (w *world) back() int64 {
	if w.o.UpUS == nil {
		return math.MaxInt64
	}
	return *w.o.UpUS
}

// throughOutage plays an outage through one door, and continues run as often
// as it asks for it.
func (c *Case) throughOutage(ctx context.Context, p Plugin, door Door) []string {
	var want OutageWant
	if err := json.Unmarshal(c.Want, &want); err != nil {
		return []string{"want: " + err.Error()}
	}
	w := &world{o: c.Outage, now: c.ClockUS}
	answer, continues, problems := c.outageAnswer(ctx, p, door, w)
	if problems != nil {
		return problems
	}
	e, err := opened(answer)
	if err != nil {
		return []string{err.Error()}
	}
	if problems := mismatch(nil, e.Error); problems != nil {
		return problems
	}
	if door == DoorRun && continues != want.Continues {
		problems = append(problems, fmt.Sprintf("want %d continuations, got %d", want.Continues, continues))
	}
	if want.StartsUS != nil {
		problems = append(problems, differences("starts", any(text(want.StartsUS)), any(text(w.starts)), false)...)
	}
	return append(problems, sameOutcome(want.Outcome, e.OK)...)
}

func (c *Case) outageAnswer(ctx context.Context, p Plugin, door Door, w *world) (answer []byte, continues int, problems []string) {
	if door == DoorDecide {
		d := &driven{p: p, h: w, request: c.request(), stopped: func([]byte) {}}
		answer, problems, err := d.loop(ctx)
		if err != nil {
			problems = append(problems, err.Error())
		}
		return answer, 0, problems
	}
	request := c.request()
	for {
		answer, problems := called(ctx, p, request, w)
		if problems != nil {
			return nil, continues, problems
		}
		var e struct {
			OK struct {
				Continue *struct {
					State string          `json:"state"`
					First json.RawMessage `json:"first"`
				} `json:"continue"`
			} `json:"ok"`
		}
		if json.Unmarshal(answer, &e) != nil || e.OK.Continue == nil {
			return answer, continues, nil
		}
		continues++
		request.State, request.First = e.OK.Continue.State, e.OK.Continue.First
	}
}
