package verification

import (
	"fmt"
	"time"

	"outlast/cmd/outlast/internal/exit"
	"outlast/cmd/outlast/internal/words"
	"outlast/host"
	"outlast/simulate"
)

// FleetFlags describe the callers that come back together.
type FleetFlags struct {
	Callers  *int   `placeholder:"N" help:"Check that the spread of woken callers keeps so many apart; with --capacity."`
	Capacity *int64 `placeholder:"N" help:"How many calls the server carries out in a second."`
}

// Check says what is wrong with them.
func (f *FleetFlags) Check() error {
	switch {
	case (f.Callers == nil) != (f.Capacity == nil):
		return exit.Usage("--callers and --capacity: the spread follows from both: give the other one too")
	case f.Callers == nil:
		return nil
	case *f.Callers < 1 || *f.Callers > simulate.MaxCallers:
		return exit.Usage("--callers: expected from 1 to %d, not %d", simulate.MaxCallers, *f.Callers)
	case *f.Capacity < 1 || *f.Capacity > simulate.MaxPerSecond:
		return exit.Usage("--capacity: expected from 1 to %d calls a second, not %d", simulate.MaxPerSecond, *f.Capacity)
	}
	return nil
}

// Spread is whether callers whom the server's return wakes together are kept far
// enough apart.
type Spread struct {
	Callers   int    `json:"callers"`
	PerSecond int64  `json:"capacity"`
	NeededUS  int64  `json:"needed_us"`         // so that no more come than the server carries out
	PolicyUS  int64  `json:"policy_us"`         // 0: no wait is cut short, so they come by the schedule
	RoomUS    *int64 `json:"room_us,omitempty"` // between the longest outage and the end of the window; not known where nothing could be shown
	Fault     string `json:"fault,omitempty"`
}

// CheckSpread adds to the report whether the policy keeps the callers apart, if they
// are given.
func (r *Report) CheckSpread(f *FleetFlags, p *host.Policy) {
	if f.Callers == nil {
		return
	}
	needed := (time.Duration(*f.Callers)*time.Second + time.Duration(*f.Capacity) - 1) / time.Duration(*f.Capacity)
	s := &Spread{Callers: *f.Callers, PerSecond: *f.Capacity, NeededUS: needed.Microseconds(), PolicyUS: p.Spread().Microseconds()}
	for _, c := range r.Checks {
		room := max(0, c.OutlastsUS-r.longest().Microseconds())
		if !c.NotProvable && (s.RoomUS == nil || room < *s.RoomUS) {
			s.RoomUS = &room
		}
	}
	switch {
	case s.PolicyUS == 0:
	case s.PolicyUS < s.NeededUS:
		s.Fault = fmt.Sprintf("%s come back within %s, and the server needs %s for them: give --spread %[3]s, or the setting spread", words.Count(s.Callers, "caller"), exact(s.PolicyUS), exact(s.NeededUS))
	case s.RoomUS != nil && *s.RoomUS < s.NeededUS:
		s.Fault = fmt.Sprintf("its window leaves %s after the longest outage, and the server needs %s for %s", exact(*s.RoomUS), exact(s.NeededUS), words.Count(s.Callers, "caller"))
	}
	r.Spread = s
	r.OK = r.OK && s.Fault == ""
}

// print prints it for people.
func (s *Spread) print() string {
	mark := words.Choose(s.Fault == "", "kept apart", "TOO CLOSE")
	text := fmt.Sprintf("%-13s  %5s  is the spread that %s need at %d a second; the policy's is %s", mark, micros(s.NeededUS), words.Count(s.Callers, "caller"), s.PerSecond, exact(s.PolicyUS))
	if s.PolicyUS == 0 {
		text = fmt.Sprintf("not woken             by a server's return: %s come back by the schedule; outlast simulate shows how close", words.Count(s.Callers, "caller"))
	}
	return text
}
