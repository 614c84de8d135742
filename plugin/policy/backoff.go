package policy

import (
	"math/bits"

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

func (r *reader) backoff(v strictjson.Value, path string) Backoff {
	if v.Kind == strictjson.Missing {
		return Backoff{}
	}
	m := r.Members(v, path)
	m.Require("type")
	b := Backoff{
		Shape: Shape(m.OneOf("type", string(Exponential), string(FullJitter), string(Linear))),
		Base:  r.duration(m, "base", required),
		Cap:   r.duration(m, "cap", required),
	}
	if b.Base > b.Cap && b.Cap > 0 {
		m.Fault("base", "is longer than the cap")
	}
	if b.Shape != Linear {
		m.Require("multiplier")
		b.Multiplier = r.fraction(m, "multiplier", million, 1000*million, million)
	}
	if b.Shape != FullJitter {
		b.Jitter = r.fraction(m, "jitter", 0, million, 0)
		b.CutAtCap = m.OneOf("jitter_at_cap", "kept", "cut") == "cut"
	}
	m.End()
	return b
}

func (b *Backoff) write(w *strictjson.Writer) {
	w.Open('{')
	w.StringMember("type", string(b.Shape))
	writeDuration(w, "base", b.Base)
	if b.Shape != Linear {
		writeFraction(w, "multiplier", b.Multiplier)
	}
	writeDuration(w, "cap", b.Cap)
	if b.Shape != FullJitter {
		writeFraction(w, "jitter", b.Jitter)
		w.StringMember("jitter_at_cap", pick(b.CutAtCap, "cut", "kept"))
	}
	w.Close('}')
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
