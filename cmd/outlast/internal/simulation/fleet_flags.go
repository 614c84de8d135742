package simulation

import (
	"time"

	"outlast/cmd/outlast/internal/exit"
	"outlast/cmd/outlast/internal/words"
	"outlast/simulate"
)

// fleetFlags describe a fleet. Most are pointers: one that is given without the
// flag it belongs to is a mistake, whatever its value.
type fleetFlags struct {
	Callers      *int           `placeholder:"N" help:"Play a fleet of so many calls against one server, up to 1000000."`
	PerMachine   *int           `placeholder:"N" help:"So many of them share a machine, its look at the server and its turns (default: 1)."`
	Arrive       *string        `placeholder:"WHEN" help:"When they begin, from the first outage on: together, spread:61s or poisson:500/s (default: together)."`
	Capacity     *int64         `placeholder:"N" help:"How many calls the server carries out in a second (default: all that come)."`
	AdmissionCap *int           `placeholder:"N" help:"How many may be in it at one time; it refuses the others (default: any number)."`
	RelapseAt    *int           `placeholder:"N" help:"More attempts than this in 100 ms knock it over (default: none do)."`
	RelapseFor   *time.Duration `placeholder:"DURATION" help:"For so long (default: as long as the first outage)."`
	Courses      *int           `placeholder:"N" help:"How many different courses the jitter takes; more callers share them (default: 100000; 0: one for each)."`
	BusyFile     string         `type:"existingfile" placeholder:"FILE" help:"What the command prints on stderr when the server is full (default: as omnigraph)."`
	BrokenFile   string         `type:"existingfile" placeholder:"FILE" help:"What it prints when the server goes away with the call in it (default: as omnigraph)."`
}

// check says what is wrong with a fleet's flags.
func (f *fleetFlags) check() error {
	if f.Callers == nil {
		return f.alone()
	}
	switch {
	case *f.Callers < 1 || *f.Callers > simulate.MaxCallers:
		return exit.Usage("--callers: expected from 1 to %d, not %d", simulate.MaxCallers, *f.Callers)
	case f.PerMachine != nil && *f.PerMachine < 1:
		return exit.Usage("--per-machine: expected a positive number of callers, not %d", *f.PerMachine)
	case f.Capacity != nil && (*f.Capacity < 1 || *f.Capacity > simulate.MaxPerSecond):
		return exit.Usage("--capacity: expected from 1 to %d calls a second, not %d", simulate.MaxPerSecond, *f.Capacity)
	case f.AdmissionCap != nil && *f.AdmissionCap < 1:
		return exit.Usage("--admission-cap: expected a positive number of calls, not %d", *f.AdmissionCap)
	case f.AdmissionCap != nil && f.Capacity == nil:
		return exit.Usage("--admission-cap: a server that takes any number a second never has one too many in it: give its --capacity too")
	case f.RelapseAt != nil && *f.RelapseAt < 1:
		return exit.Usage("--relapse-at: expected a positive number of attempts, not %d", *f.RelapseAt)
	case f.RelapseFor != nil && f.RelapseAt == nil:
		return exit.Usage("--relapse-for: say with --relapse-at too how many attempts knock the server over")
	case f.RelapseFor != nil && (*f.RelapseFor < time.Microsecond || *f.RelapseFor > simulate.MaxOutage):
		return exit.Usage("--relapse-for: expected a positive duration up to %v, such as 15s, not %v", simulate.MaxOutage, *f.RelapseFor)
	case f.Courses != nil && *f.Courses < 0:
		return exit.Usage("--courses: expected a number that is not negative, not %d", *f.Courses)
	}
	if _, err := f.arrivals(); err != nil {
		return exit.Usage("--arrive: %v", err)
	}
	return nil
}

// alone finds what describes a fleet where there is none.
func (f *fleetFlags) alone() error {
	for _, flag := range []struct {
		name  string
		given bool
	}{
		{"per-machine", f.PerMachine != nil}, {"arrive", f.Arrive != nil}, {"capacity", f.Capacity != nil}, {"admission-cap", f.AdmissionCap != nil},
		{"relapse-at", f.RelapseAt != nil}, {"relapse-for", f.RelapseFor != nil}, {"courses", f.Courses != nil},
		{"busy-file", f.BusyFile != ""}, {"broken-file", f.BrokenFile != ""},
	} {
		if flag.given {
			return exit.Usage("--%s: describes a fleet: give --callers too", flag.name)
		}
	}
	return nil
}

func (f *fleetFlags) arrive() string { return words.Or(f.Arrive, "together") }

func (f *fleetFlags) arrivals() (simulate.Arrivals, error) {
	return simulate.ParseArrivals(f.arrive())
}

// server is what the fleet calls; it is away for so long by default.
func (f *fleetFlags) server(away time.Duration) simulate.Server {
	return simulate.Server{
		PerSecond: words.Or(f.Capacity, 0), AdmissionCap: words.Or(f.AdmissionCap, 0),
		RelapseAt: words.Or(f.RelapseAt, 0), RelapseFor: words.Or(f.RelapseFor, away).Truncate(time.Microsecond),
	}
}
