package policy

import (
	"math"
	"testing"

	"outlast/abi/strictjson"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const lastChance = 1<<32 - 1 // the largest random number

// unavailable and conflict are the built-in schedules.
var (
	unavailable = Backoff{Shape: Exponential, Base: 500_000, Multiplier: 2 * million, Cap: 10 * million, Jitter: million / 10}
	conflict    = Backoff{Shape: FullJitter, Base: 100_000, Multiplier: 2 * million, Cap: million}
)

// schedule is the delays after the first n failures, for a chance of u.
func schedule(b Backoff, n int64, u int64) []int64 {
	var list []int64
	for i := int64(1); i <= n; i++ {
		list = append(list, b.delay(i, u))
	}
	return list
}

func TestSchedules(t *testing.T) {
	plain, cut, witan := unavailable, unavailable, unavailable
	plain.Jitter = 0
	cut.CutAtCap = true
	witan.Base, witan.Cap, witan.CutAtCap = 250_000, 4*million, true
	linear := Backoff{Shape: Linear, Base: 3 * million, Cap: 10 * million}
	constant := Backoff{Shape: Exponential, Base: million, Multiplier: million, Cap: 10 * million}
	slow := Backoff{Shape: Exponential, Base: 1, Multiplier: million + 1, Cap: 10 * million}
	for _, c := range []struct {
		name string
		b    Backoff
		u    int64
		want []int64
	}{
		{"without jitter", plain, 0, []int64{500_000, million, 2 * million, 4 * million, 8 * million, 10 * million, 10 * million}},
		{"kept, the longest", unavailable, 0, []int64{550_000, 1_100_000, 2_200_000, 4_400_000, 8_800_000, 10_000_000, 10_000_000}},
		{"kept, the shortest", unavailable, lastChance, []int64{500_000, 1_000_000, 2_000_000, 4_000_000, 8_000_000, 9_090_910, 9_090_910}},
		{"cut, the shortest", cut, 0, []int64{500_000, 1_000_000, 2_000_000, 4_000_000, 8_000_000, 10_000_000, 10_000_000}},
		{"cut, the longest", cut, lastChance, []int64{550_000, 1_100_000, 2_200_000, 4_400_000, 8_800_000, 10_000_000, 10_000_000}},
		{"cut just below the cap", witan, lastChance, []int64{275_000, 550_000, 1_100_000, 2_200_000, 4_000_000, 4_000_000, 4_000_000}},
		{"full jitter, the shortest", conflict, 0, []int64{0, 0, 0, 0, 0, 0, 0}},
		{"full jitter, the longest", conflict, lastChance, []int64{100_000, 200_000, 400_000, 800_000, 1_000_000, 1_000_000, 1_000_000}},
		{"linear", linear, 0, []int64{3 * million, 6 * million, 9 * million, 10 * million, 10 * million, 10 * million, 10 * million}},
		{"constant", constant, 0, []int64{million, million, million, million, million, million, million}},
		{"too slow to ever grow", slow, 0, []int64{1, 1, 1, 1, 1, 1, 1}},
	} {
		if diff := cmp.Diff(c.want, schedule(c.b, 7, c.u)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// drawBackoff draws any backoff that a document can have.
func drawBackoff(t *rapid.T) Backoff {
	length := rapid.OneOf(rapid.Int64Range(1, 100), rapid.Int64Range(1, 100*million), rapid.Int64Range(1, strictjson.MaxInteger))
	b := Backoff{
		Shape:  rapid.SampledFrom([]Shape{Exponential, FullJitter, Linear}).Draw(t, "shape"),
		Cap:    length.Draw(t, "cap"),
		Jitter: rapid.OneOf(rapid.SampledFrom([]int64{0, 100_000, million}), rapid.Int64Range(0, million)).Draw(t, "jitter"),
	}
	b.Base = min(b.Cap, length.Draw(t, "base"))
	if b.Shape != Linear {
		b.Multiplier = rapid.OneOf(rapid.SampledFrom([]int64{million, 2 * million, 1000 * million}), rapid.Int64Range(million, 3*million)).Draw(t, "multiplier")
	}
	if b.Shape == FullJitter {
		b.Jitter = 0
	}
	b.CutAtCap = b.Shape != FullJitter && rapid.Bool().Draw(t, "cut at cap")
	return b
}

func drawChance(t *rapid.T) int64 {
	return rapid.OneOf(rapid.Int64Range(0, lastChance), rapid.SampledFrom([]int64{0, 1, 1 << 31, lastChance})).Draw(t, "chance")
}

func drawFailure(t *rapid.T) int64 {
	return rapid.OneOf(rapid.Int64Range(1, 60), rapid.Int64Range(1, 10_000), rapid.Just(int64(strictjson.MaxInteger))).Draw(t, "failure")
}

// Rule 4: below the cap a delay lies in d … d·(1+j), at it in cap/(1+j) … cap.
func TestJitterBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, n, u := drawBackoff(t), drawFailure(t), drawChance(t)
		d, got := b.plain(n), b.delay(n, u)
		extra := fractionOf(d, b.Jitter)
		switch {
		case d < 1 || d > b.Cap || got < 0 || got > b.Cap:
			t.Fatalf("%+v after failure %d: %d without jitter, %d with it", b, n, d, got)
		case b.Shape == FullJitter:
			if got > d {
				t.Fatalf("full jitter: %d of %d", got, d)
			}
		case b.CutAtCap:
			if got < d || got > d+extra {
				t.Fatalf("cut: %d of %d + %d", got, d, extra)
			}
		case d <= b.Cap-extra:
			if got < d || got > d+extra {
				t.Fatalf("below the cap: %d of %d + %d", got, d, extra)
			}
		default:
			least := b.Cap - mulDiv(b.Cap, b.Jitter, million+b.Jitter)
			if got < least || got > b.Cap {
				t.Fatalf("at the cap: %d of %d … %d", got, least, b.Cap)
			}
		}
	})
}

// The bounds are reached: there is jitter at the cap, all of it.
func TestJitterSpreads(t *testing.T) {
	for _, n := range []int64{1, 4, 5, 6, 1000} {
		hi, lo := unavailable.delay(n, 0), unavailable.delay(n, lastChance)
		if ratio := float64(hi) / float64(lo); math.Abs(ratio-1.1) > 0.0001 {
			t.Errorf("after failure %d the delays reach from %d to %d, by a factor of %.4f", n, lo, hi, ratio)
		}
	}
}

// With more failures the delay never gets shorter, and never passes the cap.
func TestDelayGrowsUpToTheCap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, u := drawBackoff(t), drawChance(t)
		before := int64(0)
		for n := int64(1); n <= 200; n++ {
			d := b.delay(n, u)
			if d < before || d > b.Cap {
				t.Fatalf("%+v: after failure %d the delay is %d, before it was %d", b, n, d, before)
			}
			before = d
		}
	})
}

// The delay stays at the cap for ever: however large the count, the exponent
// does not overflow.
func TestDelayStaysAtTheCapForEver(t *testing.T) {
	for _, n := range []int64{7, 31, 32, 33, 63, 64, 65, 100, 1 << 20, 1 << 31, 1 << 32, strictjson.MaxInteger, math.MaxInt64} {
		if d := unavailable.delay(n, 0); d != 10*million {
			t.Errorf("after failure %d the delay is %d", n, d)
		}
		if d := unavailable.delay(n, lastChance); d != 9_090_910 {
			t.Errorf("after failure %d the shortest delay is %d", n, d)
		}
		linear := Backoff{Shape: Linear, Base: 1, Cap: strictjson.MaxInteger}
		if d := linear.delay(n, 0); d != min(n, strictjson.MaxInteger) {
			t.Errorf("after failure %d the linear delay is %d", n, d)
		}
	}
}

// witan-core computes min(base·2^(n-1)·(1+u/10), cap) in floating point; with
// the same chance the delays agree to the microsecond.
func TestEqualsWitanCoreToTheMicrosecond(t *testing.T) {
	for _, c := range []struct{ base, cap float64 }{{0.5, 10}, {0.25, 4}, {0.2, 3.2}} {
		b := Backoff{
			Shape: Exponential, Base: int64(math.Round(c.base * 1e6)), Multiplier: 2 * million,
			Cap: int64(math.Round(c.cap * 1e6)), Jitter: million / 10, CutAtCap: true,
		}
		for n := int64(1); n <= 40; n++ {
			for _, u := range []int64{0, 1, 12345, 1 << 20, 1 << 31, 3 << 30, lastChance} {
				delay := c.base * math.Pow(2, float64(n-1))
				want := math.Min(delay+float64(u)/(1<<32)*0.1*delay, c.cap) * 1e6
				if got := b.delay(n, u); math.Abs(float64(got)-want) > 1 {
					t.Errorf("base %v, failure %d, chance %d: %d, witan-core has %.3f", c.base, n, u, got, want)
				}
			}
		}
	}
	for n := int64(1); n <= 40; n++ {
		for _, u := range []int64{0, 12345, 1 << 31, lastChance} {
			want := float64(u) / (1 << 32) * math.Min(0.1*math.Pow(2, float64(n-1)), 1) * 1e6
			if got := conflict.delay(n, u); math.Abs(float64(got)-want) > 1 {
				t.Errorf("full jitter, failure %d, chance %d: %d, witan-core has %.3f", n, u, got, want)
			}
		}
	}
}

func TestMulDiv(t *testing.T) {
	for _, c := range []struct{ a, b, c, want int64 }{
		{0, 5, 3, 0}, {7, 3, 2, 10}, {strictjson.MaxInteger, strictjson.MaxInteger, strictjson.MaxInteger, strictjson.MaxInteger},
		{strictjson.MaxInteger, 2, 1, strictjson.MaxInteger}, {strictjson.MaxInteger, 1 << 32, 1 << 33, strictjson.MaxInteger / 2},
		{math.MaxInt64, math.MaxInt64, 1, strictjson.MaxInteger}, {1 << 62, 1 << 62, 1 << 62, strictjson.MaxInteger},
	} {
		if got := mulDiv(c.a, c.b, c.c); got != c.want {
			t.Errorf("mulDiv(%d, %d, %d) = %d, want %d", c.a, c.b, c.c, got, c.want)
		}
	}
}
