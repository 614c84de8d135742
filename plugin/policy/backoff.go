package policy

import (
	"math/bits"

	"outlast/abi/fields"
	"outlast/abi/strictjson"
)

const million = 1_000_000

// Shape is how delays grow and how they are spread.
type Shape string

// The shapes of a backoff.
const (
	// Exponential grows by the multiplier up to the cap, with proportional jitter.
	Exponential Shape = "exponential"
	// FullJitter draws from 0 to what Exponential would have without jitter.
	FullJitter Shape = "full_jitter"
	// Linear is n times the base, up to the cap.
	Linear Shape = "linear"
)

var shapes = []string{"", string(Exponential), string(FullJitter), string(Linear)}

// Backoff computes the delay after the n-th failure. Durations are in
// microseconds, fractions in millionths.
type Backoff struct {
	Shape      Shape
	Base       int64
	Multiplier int64 // ppm, at least a million
	Cap        int64
	Jitter     int64 // ppm of the delay
	CutAtCap   bool  // the cap cuts the jitter off, so that delays at the cap are equal
}

var jitterAtCapWords = []string{"kept", "cut"}

// Fields implements fields.Message.
func (b *Backoff) Fields(f *fields.List) {
	f.Word("type", (*string)(&b.Shape), shapes).Required().Says("`exponential`, `full_jitter`: *d* = base·multiplier^(n−1), at most the cap, each product rounded down. `linear`: *d* = n·base, at most the cap")
	f.Add("base", (*durationForm)(&b.Base)).Required().Says("not longer than the cap")
	f.Add("multiplier", (*factorForm)(&b.Multiplier)).Says("required; not of `linear`")
	f.Add("cap", (*durationForm)(&b.Cap)).Required().Says("the longest delay, jitter included")
	f.Add("jitter", (*shareForm)(&b.Jitter)).Always(b.Shape != FullJitter).Says("as a part of *d*; not of `full_jitter`").Default("0")
	f.Either("jitter_at_cap", &b.CutAtCap, jitterAtCapWords).Always(b.Shape != FullJitter).Says("`kept`: below the cap a delay lies in d … d·(1+j), at the cap in cap/(1+j) … cap. `cut`: the cap cuts the jitter off, so that delays at the cap are equal. Not of `full_jitter`").Default("`kept`")
}

// Check implements fields.Checker.
func (b *Backoff) Check(c *fields.Checked) {
	if b.Base > b.Cap && b.Cap > 0 {
		c.Fault("base", "is longer than the cap")
	}
	switch {
	case b.Shape == Linear && c.Has("multiplier"):
		c.Fault("multiplier", notKnown)
	case b.Shape != Linear && !c.Has("multiplier"):
		c.Fault("multiplier", "is missing")
	}
	for _, name := range []string{"jitter", "jitter_at_cap"} {
		if b.Shape == FullJitter && c.Has(name) {
			c.Fault(name, notKnown)
		}
	}
}

// draws says whether the delay depends on chance.
func (b *Backoff) draws() bool {
	return b.Shape == FullJitter || b.Jitter > 0
}

// delay is the wait after failure n, counted from 1, for a chance of u/(2^32-1).
// It is the same integer on every machine, and at the cap for however large n.
func (b *Backoff) delay(n, u int64) int64 {
	d := b.plain(n)
	switch {
	case b.Shape == FullJitter:
		return scale(min(d, b.Cap), u)
	case b.CutAtCap:
		return min(d+scale(fractionOf(d, b.Jitter), u), b.Cap)
	}
	// hi·(1 − u·j/(1+j)): within d … d·(1+j) below the cap, and within
	// cap/(1+j) … cap at it, so that jitter survives where it matters most.
	hi := min(d+fractionOf(d, b.Jitter), b.Cap)
	return hi - scale(mulDiv(hi, b.Jitter, million+b.Jitter), u)
}

// plain is the delay without jitter, at most the cap.
func (b *Backoff) plain(n int64) int64 {
	d := b.Base
	if b.Shape == Linear {
		if n > b.Cap/b.Base {
			return b.Cap
		}
		return n * b.Base
	}
	for i := int64(1); i < n && d < b.Cap; i++ {
		next := mulDiv(d, b.Multiplier, million)
		if next == d {
			break // too small a multiplier to ever grow
		}
		d = next
	}
	return min(d, b.Cap)
}

func fractionOf(d, ppm int64) int64 {
	return mulDiv(d, ppm, million)
}

// scale is d·u/(2^32-1): both ends of the range can be reached, as they can
// with a host's random number from 0 to 1. So a host's 1 gives the whole of d,
// and ties are decided as in a loop that computes with that number.
func scale(d, u int64) int64 {
	return mulDiv(d, u, 1<<32-1)
}

// mulDiv is a·b/c without overflow on the way; a result above 2^53-1 is cut to
// it. The arguments are not negative, and c is not 0.
func mulDiv(a, b, c int64) int64 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	if hi >= uint64(c) {
		return strictjson.MaxInteger
	}
	q, _ := bits.Div64(hi, lo, uint64(c))
	return int64(min(q, strictjson.MaxInteger))
}
