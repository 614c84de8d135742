package strictjson

import (
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestScaled(t *testing.T) {
	for _, c := range []struct {
		literal string
		digits  int
		n       int64
		exact   bool
	}{
		{"0", 0, 0, true},
		{"-0", 0, 0, true},
		{"0.0e9", 6, 0, true},
		{"512", 0, 512, true},
		{"512.0", 0, 512, true},
		{"1e3", 0, 1000, true},
		{"5.12E+2", 0, 512, true},
		{"51200e-2", 0, 512, true},
		{"-7", 0, -7, true},
		{"0.1", 6, 100_000, true},
		{"1.000001", 6, 1_000_001, true},
		{"0.0000001", 6, 1, false},
		{"-0.0000001", 6, -1, false},
		{"1.5", 0, 2, false},
		{"-1.5", 0, -2, false},
		{"0.000001", 0, 1, false},
		{"1e-400", 0, 1, false},
		{"0e-400", 0, 0, true},
		{"1e-1000000000000000000000", 0, 1, false},
		{"9007199254740991", 0, MaxInteger, true},
		{"-9007199254740991", 0, -MaxInteger, true},
		{"9007199254740991.0", 0, MaxInteger, true},
		{"9007199254740992", 0, MaxInteger, false},
		{"-9007199254740992", 0, -MaxInteger, false},
		{"9007199254740990.5", 0, MaxInteger, false},
		{"9007199254740991.5", 0, MaxInteger, false},
		{"9223372036854775808", 0, MaxInteger, false},
		{"18446744073709551616", 0, MaxInteger, false},
		{"99999999999999999999999999", 0, MaxInteger, false},
		{"1e300", 0, MaxInteger, false},
		{"-1e300", 0, -MaxInteger, false},
		{"1e1000000000000000000000", 0, MaxInteger, false},
		{"9007199254740991", 1, MaxInteger, false},
		{"10000000000000000000000000e-25", 0, 1, true},
		{"10000000000000000000000001e-25", 0, 2, false},
		{"1.00000000000000000000000000", 0, 1, true},
		{"1.00000000000000000000000001", 0, 2, false},
		{"0.00000000000000000000000000000001e32", 0, 1, true},
		{"0." + strings.Repeat("0", 5000) + "1e5001", 0, 1, true},
		{"1" + strings.Repeat("0", 5000) + "e-5000", 0, 1, true},
	} {
		n, exact := Scaled(c.literal, c.digits)
		if n != c.n || exact != c.exact {
			t.Errorf("Scaled(%.40q, %d) = %d, %t; want %d, %t", c.literal, c.digits, n, exact, c.n, c.exact)
		}
	}
}

func TestInteger(t *testing.T) {
	for literal, want := range map[string]int64{"0": 0, "512.0": 512, "1e3": 1000, "-9007199254740991": -MaxInteger} {
		if n, ok := Integer(literal); n != want || !ok {
			t.Errorf("Integer(%q) = %d, %t; want %d", literal, n, ok, want)
		}
	}
	for _, literal := range []string{"0.5", "1e-1", "9007199254740992", "-9007199254740992", "1e16", "1e400"} {
		if n, ok := Integer(literal); ok {
			t.Errorf("Integer(%q) = %d is accepted", literal, n)
		}
	}
}

var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,4})?$`)

// scaledByBig is Scaled by arithmetic of any precision.
func scaledByBig(literal string, digits int) (n int64, exact bool) {
	r, ok := new(big.Rat).SetString(literal)
	if !ok {
		panic("not a number: " + literal)
	}
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil)
	r.Mul(r, new(big.Rat).SetInt(power))
	q, rest := new(big.Int).QuoRem(new(big.Int).Abs(r.Num()), r.Denom(), new(big.Int))
	exact = rest.Sign() == 0
	if !exact {
		q.Add(q, big.NewInt(1))
	}
	if most := big.NewInt(MaxInteger); q.Cmp(most) > 0 {
		q, exact = most, false
	}
	return q.Int64() * int64(r.Sign()), exact
}

func checkScaled(t interface {
	Fatalf(string, ...any)
}, literal string, digits int) {
	n, exact := Scaled(literal, digits)
	if wantN, wantExact := scaledByBig(literal, digits); n != wantN || exact != wantExact {
		t.Fatalf("Scaled(%q, %d) = %d, %t; math/big says %d, %t", literal, digits, n, exact, wantN, wantExact)
	}
}

func TestScaledAgainstBig(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		literal := rapid.StringMatching(`-?(0|[1-9][0-9]{0,24})(\.[0-9]{1,24})?([eE][+-]?[0-9]{1,2})?`).Draw(t, "literal")
		checkScaled(t, literal, rapid.IntRange(0, 8).Draw(t, "digits"))
	})
}

// Near a multiple of a power of ten, and near the largest integer, rounding and
// cutting go wrong first.
func TestScaledAgainstBigAtTheEdges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		center := rapid.SampledFrom([]int64{0, 1, 10, 1e15, MaxInteger, 1 << 53, 1<<63 - 11}).Draw(t, "center")
		n := center + rapid.Int64Range(-10, 10).Draw(t, "offset")
		literal := strconv.FormatInt(n, 10)
		literal += rapid.SampledFrom([]string{"", ".0", ".5", ".00000000000000000001", "e0", "e-1", "e1", "e-15", "0000000000000e-13"}).Draw(t, "rest")
		checkScaled(t, literal, rapid.IntRange(0, 8).Draw(t, "digits"))
	})
}

func FuzzScaled(f *testing.F) {
	for _, seed := range []string{"0", "-1.5e3", "9007199254740993", "0.1", "1e-9", "123456789012345678901234567890.5"} {
		f.Add(seed, uint8(6))
	}
	f.Fuzz(func(t *testing.T, literal string, digits uint8) {
		if jsonNumber.MatchString(literal) && len(literal) < 500 {
			checkScaled(t, literal, int(digits%9))
		}
	})
}
