package simulate

import (
	"context"
	"math"
)

// closeEnough is how much larger the smallest unsafe fleet may be than the one that
// Safe gives (a choice: the load of a server is not known any better).
const closeEnough = 1.05

// safeCourses bounds the courses in the search (a choice: callers who share one come
// together, and so few of them are far from what knocks a server over).
const safeCourses = 10_000

// Safe is how many callers the policy keeps from knocking the server over, to a
// twentieth; r is what this fleet came to. The server must be one that can be
// knocked over.
func (f *Fleet) Safe(ctx context.Context, r *Report) (int, error) {
	one := *f
	one.Check, one.brittle = nil, true
	if one.Courses == 0 || one.Courses > safeCourses {
		one.Courses = safeCourses
	}
	// Fewer callers than it takes cannot knock it over.
	low, high := min(f.Server.RelapseAt, MaxCallers), MaxCallers+1
	if r.Relapses > 0 {
		high = f.Callers
	} else {
		low = max(low, f.Callers)
	}
	for float64(high) > closeEnough*float64(low)+1 {
		one.Callers = int(math.Sqrt(float64(low) * float64(high)))
		if high > MaxCallers {
			one.Callers = min(4*low, MaxCallers)
		}
		report, err := one.Run(ctx)
		if err != nil {
			return 0, err
		}
		if report.Relapses > 0 {
			high = one.Callers
		} else if low = one.Callers; low == MaxCallers {
			break
		}
	}
	return low, nil
}
