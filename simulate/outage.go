package simulate

import (
	"fmt"
	"math/bits"
	"strings"
	"time"
)

// Span is an outage: the server is away from From on, and up again at To.
type Span struct{ From, To time.Duration }

// Plan is outages as they are given: some of a length that chance settles.
type Plan []Planned

// Planned is one outage of a plan.
type Planned struct {
	At       time.Duration
	Low, Max time.Duration // its length is drawn evenly from these; equal for one that is known
}

// MaxOutage bounds an outage (a choice: 31 days; what is longer is no restart).
const MaxOutage = 31 * 24 * time.Hour

// ParsePlan reads outages such as 61s, 20s@5s,30s@70s or uniform:52s..61s: each
// a length or a range of it, and after @ when it begins.
func ParsePlan(text string) (Plan, error) {
	var plan Plan
	for i, part := range strings.Split(text, ",") {
		p, err := parsePlanned(part)
		if err != nil {
			return nil, fmt.Errorf("outage %d, %q: %w", i+1, part, err)
		}
		if i > 0 {
			if before := plan[i-1]; p.At < before.At {
				return nil, fmt.Errorf("outage %d, %q: begins before outage %d, which begins at %v: give them in order", i+1, part, i, before.At)
			} else if p.At <= before.At+before.Max {
				return nil, fmt.Errorf("outage %d, %q: begins at %v, before outage %d has ended, which may be at %v: outages do not overlap", i+1, part, p.At, i, before.At+before.Max)
			}
		}
		plan = append(plan, p)
	}
	return plan, nil
}

func parsePlanned(text string) (p Planned, err error) {
	length, at, later := strings.Cut(text, "@")
	if later {
		if p.At, err = time.ParseDuration(at); err != nil || p.At < 0 || !whole(p.At) {
			return p, fmt.Errorf("expected when it begins after the @, such as 5s, not %q", at)
		}
	}
	if p.At > MaxOutage {
		return p, fmt.Errorf("begins after %v; the longest that is simulated is %v", p.At, MaxOutage)
	}
	bounds, uniform := strings.CutPrefix(length, "uniform:")
	if !uniform {
		p.Low, err = parseLength(length)
		p.Max = p.Low
		return p, err
	}
	low, high, both := strings.Cut(bounds, "..")
	if !both {
		return p, fmt.Errorf("expected a range such as uniform:52s..61s")
	}
	if p.Low, err = parseLength(low); err != nil {
		return p, err
	}
	if p.Max, err = parseLength(high); err != nil {
		return p, err
	}
	if p.Max < p.Low {
		return p, fmt.Errorf("its range ends at %v, before it begins at %v", p.Max, p.Low)
	}
	return p, nil
}

func parseLength(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return 0, fmt.Errorf("expected how long it lasts, such as 61s, not %q; one that never ends cannot be outlasted", text)
	case d <= 0:
		return 0, fmt.Errorf("expected a positive length such as 61s, not %v", d)
	case d > MaxOutage:
		return 0, fmt.Errorf("lasts %v; the longest that is simulated is %v", d, MaxOutage)
	case !whole(d):
		return 0, fmt.Errorf("expected whole microseconds, not %v", d)
	}
	return d, nil
}

// whole says whether a duration is whole microseconds, as the contract has them.
func whole(d time.Duration) bool { return d%time.Microsecond == 0 }

// Draw settles the lengths that are left to chance: by draw n of a seed.
func (p Plan) Draw(seed, n uint64) []Span {
	spans := make([]Span, len(p))
	for i, o := range p {
		d := o.Low + time.Duration(below(random(seed, n, uint64(i)), uint64((o.Max-o.Low)/time.Microsecond)+1))*time.Microsecond
		spans[i] = Span{o.At, o.At + d}
	}
	return spans
}

// Certain says whether nothing of the plan is left to chance.
func (p Plan) Certain() bool {
	for _, o := range p {
		if o.Low != o.Max {
			return false
		}
	}
	return true
}

// random is a number of a seed's, one for each pair: SplitMix64's finish, twice.
func random(seed, n, i uint64) uint64 {
	return mix(mix(seed+n*0x9e3779b97f4a7c15) + i*0xd1b54a32d192ed03)
}

func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below is a random number scaled to 0 … n-1.
func below(r, n uint64) uint64 {
	hi, _ := bits.Mul64(r, n)
	return hi
}
