package verification

import (
	"context"
	"fmt"
	"time"

	"outlast/abi"
	"outlast/cmd/outlast/internal/exit"
	"outlast/cmd/outlast/internal/library"
	"outlast/cmd/outlast/internal/sample"
	"outlast/cmd/outlast/internal/words"
	"outlast/commands"
	"outlast/simulate"
)

// FleetFlags describe the callers that come back together.
type FleetFlags struct {
	Callers    *int   `placeholder:"N" help:"Check that so many may come back together; with --capacity."`
	Capacity   *int64 `placeholder:"N" help:"How many calls the server carries out in a second."`
	PerMachine *int   `placeholder:"N" help:"So many callers share a machine, its look at the server and its turns (default: 1)."`
	RelapseAt  *int   `placeholder:"N" help:"More attempts than this in 100 ms knock the server over (default: as many as it carries out in a second)."`
}

// Check says what is wrong with them.
func (f *FleetFlags) Check() error {
	switch {
	case (f.Callers == nil) != (f.Capacity == nil):
		return exit.Usage("--callers and --capacity: what the server needs follows from both: give the other one too")
	case f.Callers == nil && (f.PerMachine != nil || f.RelapseAt != nil):
		return exit.Usage("--per-machine and --relapse-at: describe a fleet: give --callers too")
	case f.Callers == nil:
		return nil
	case *f.Callers < 1 || *f.Callers > simulate.MaxCallers:
		return exit.Usage("--callers: expected from 1 to %d, not %d", simulate.MaxCallers, *f.Callers)
	case *f.Capacity < 1 || *f.Capacity > simulate.MaxPerSecond:
		return exit.Usage("--capacity: expected from 1 to %d calls a second, not %d", simulate.MaxPerSecond, *f.Capacity)
	case f.PerMachine != nil && *f.PerMachine < 1:
		return exit.Usage("--per-machine: expected a positive number of callers, not %d", *f.PerMachine)
	case f.RelapseAt != nil && *f.RelapseAt < 1:
		return exit.Usage("--relapse-at: expected a positive number of attempts, not %d", *f.RelapseAt)
	}
	return nil
}

// What is found of callers whom the server's return wakes together.
const (
	KeptApart = "kept apart"
	TooClose  = "too close" // they knock the server over
	NoRoom    = "no room"   // the window is over before the server has carried all of them out
	NotWoken  = "not woken" // no wait is cut short, so they come by the schedule
)

// atOnce is for how long the server may be busy with all callers, so that they need
// not be kept apart, and the most that it may get at once by default: its work of
// that time (a choice: so long the looks of a waiting caller are patient with it).
const atOnce = time.Second

// Spread is whether callers whom the server's return wakes together are kept far
// enough apart.
type Spread struct {
	Callers    int    `json:"callers"`
	PerMachine int    `json:"per_machine"`
	PerSecond  int64  `json:"capacity"`
	RelapseAt  int    `json:"relapse_at"`
	Verdict    string `json:"verdict"`
	NeededUS   int64  `json:"needed_us"`          // until the server has carried out all of them
	PolicyUS   int64  `json:"policy_us"`          // 0: not woken
	RoomUS     *int64 `json:"room_us,omitempty"`  // between the longest outage and the end of the window; not known where nothing could be shown
	Peak       int    `json:"most_within_100_ms"` // attempts, after the server's return; not woken: 0
	Fault      string `json:"fault,omitempty"`
}

// CheckFleet adds to the report what the callers come to, if they are given: they are
// played as simulate plays them. The error is an *exit.Error.
func (c *Checker) CheckFleet(ctx context.Context, r *Report, f *FleetFlags) error {
	if f.Callers == nil {
		return nil
	}
	needed := (time.Duration(*f.Callers)*time.Second + time.Duration(*f.Capacity) - 1) / time.Duration(*f.Capacity)
	s := &Spread{
		Callers: *f.Callers, PerMachine: words.Or(f.PerMachine, 1), PerSecond: *f.Capacity,
		RelapseAt: words.Or(f.RelapseAt, int(*f.Capacity*int64(atOnce/time.Second))), Verdict: NotWoken,
		NeededUS: needed.Microseconds(), PolicyUS: c.Policy.Spread().Microseconds(),
	}
	for _, check := range r.Checks {
		room := max(0, check.OutlastsUS-r.longest().Microseconds())
		if !check.NotProvable && (s.RoomUS == nil || room < *s.RoomUS) {
			s.RoomUS = &room
		}
	}
	r.Spread = s
	if s.PolicyUS == 0 {
		return nil
	}
	played, err := c.play(ctx, r, s)
	if err != nil {
		return exit.Unusable(err)
	}
	s.Peak, _ = played.Peak()
	switch {
	case needed > atOnce && s.RoomUS != nil && *s.RoomUS < s.NeededUS:
		s.Verdict = NoRoom
		s.Fault = fmt.Sprintf("its window leaves %s after the longest outage, and the server needs %s for %s", exact(*s.RoomUS), exact(s.NeededUS), s.fleet())
		if r.SmallestUS > 0 {
			s.Fault += fmt.Sprintf(": a max_wait of %s would just do", exact(r.SmallestUS+s.NeededUS))
		}
	case played.Relapses > 0:
		s.Verdict = TooClose
		s.Fault = fmt.Sprintf("of %s more than %d come within 100 ms, %s: give --spread %s, or the setting spread", s.fleet(), s.RelapseAt,
			words.Choose(f.RelapseAt == nil, "which is the work of a second", "which knocks the server over"), exact(s.NeededUS))
	default:
		s.Verdict = KeptApart
	}
	r.OK = r.OK && s.Fault == ""
	return nil
}

// play has the callers meet the longest outage together, as writes if the policy
// repeats these.
func (c *Checker) play(ctx context.Context, r *Report, s *Spread) (*simulate.Report, error) {
	doc, err := library.Document(c.Policy)
	if err != nil {
		return nil, err
	}
	writes := false
	for i := range r.Checks {
		writes = writes || !r.Checks[i].read
	}
	fleet := simulate.Fleet{
		Policy: doc, Call: abi.Call{Label: "verify", Remote: true, Write: writes, ConnectRetry: true},
		Scene: simulate.Scene{
			Away: []simulate.Span{{To: r.longest()}}, Takes: c.Takes, Watch: &simulate.AsHost,
			Results: simulate.Results{Down: c.Failure, Busy: sample.Of(c.Policy, commands.Full), Broken: sample.Of(c.Policy, commands.Broken)},
		},
		Server:  simulate.Server{PerSecond: s.PerSecond, RelapseAt: s.RelapseAt, RelapseFor: r.longest()},
		Callers: s.Callers, PerMachine: s.PerMachine, Seed: 1, Courses: simulate.DefaultCourses,
	}
	return fleet.Run(ctx)
}

// fleet is the callers in words.
func (s *Spread) fleet() string {
	text := words.Count(s.Callers, "caller")
	if s.PerMachine > 1 {
		text += fmt.Sprintf(", %d on a machine,", s.PerMachine)
	}
	return text
}

// print prints it for people.
func (s *Spread) print() string {
	mark, why := "kept apart", fmt.Sprintf("at most %d of them come within 100 ms", s.Peak)
	switch s.Verdict {
	case NotWoken:
		return fmt.Sprintf("not woken             by a server's return: %s come back by the schedule; outlast simulate shows how close", words.Count(s.Callers, "caller"))
	case NoRoom:
		mark, why = "NO ROOM", fmt.Sprintf("the window leaves %s after the longest outage", exact(*s.RoomUS))
	case TooClose:
		mark, why = "TOO CLOSE", fmt.Sprintf("more than %d of them come within 100 ms; the policy's spread is %s", s.RelapseAt, exact(s.PolicyUS))
	}
	return fmt.Sprintf("%-13s  %5s  is what the server needs for %s at %d a second: %s", mark, micros(s.NeededUS), s.fleet(), s.PerSecond, why)
}
