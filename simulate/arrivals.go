package simulate

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Arrivals say when the calls of a fleet begin, counted from the first outage's
// beginning.
type Arrivals struct {
	Over      time.Duration // evenly spread over so long; 0: all together
	PerSecond float64       // or at random, so many a second on average (Poisson)
}

// ParseArrivals reads together, spread:61s or poisson:500/s.
func ParseArrivals(text string) (Arrivals, error) {
	kind, value, _ := strings.Cut(text, ":")
	switch kind {
	case "together":
		if value == "" {
			return Arrivals{}, nil
		}
	case "spread":
		d, err := time.ParseDuration(value)
		if err == nil && d > 0 && d <= MaxOutage {
			return Arrivals{Over: d}, nil
		}
	case "poisson":
		rate, err := strconv.ParseFloat(strings.TrimSuffix(value, "/s"), 64)
		if err == nil && rate >= 0.001 && rate <= 1e9 {
			return Arrivals{PerSecond: rate}, nil
		}
	}
	return Arrivals{}, fmt.Errorf("expected together, spread:61s or poisson:500/s, not %q", text)
}

// begins are the beginnings of n calls. Those of poisson are in order.
func (a Arrivals) begins(n int, seed uint64, from time.Duration) []time.Duration {
	const stream = 1 << 62 // apart from what else is drawn of the seed
	list := make([]time.Duration, n)
	at := 0.0
	for i := range list {
		r := random(seed, uint64(i), stream)
		switch {
		case a.PerSecond > 0:
			at += -math.Log1p(-float64(r>>11)/(1<<53)) / a.PerSecond * 1e6
			list[i] = time.Duration(min(at, 1e15)) * time.Microsecond
		case a.Over > 0:
			list[i] = time.Duration(below(r, uint64(a.Over/time.Microsecond))) * time.Microsecond
		}
		list[i] += from
	}
	return list
}
