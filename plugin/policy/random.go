package policy

import "outlast/abi"

// chance is the jitter's random number, from 0 to 2^32-1: the event's own, or
// the next one of the call's seed.
func (s *state) chance(call *abi.Call, e *abi.Event) (int64, error) {
	switch {
	case e.Random != nil:
		return *e.Random, nil
	case call.Seed != nil:
		s.draws++
		return int64(splitMix64(uint64(*call.Seed), uint64(s.draws)) >> 32), nil
	}
	return 0, &abi.Error{
		Code: abi.CodeBadRequest, Field: "event.random",
		Message: "is missing: this policy's jitter needs either call.seed or a random number with each event",
	}
}

// splitMix64 is number n, counted from 1, of the SplitMix64 sequence of a seed
// (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014).
func splitMix64(seed, n uint64) uint64 {
	z := seed + n*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
