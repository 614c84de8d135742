package strictjson

import "math/bits"

// MaxInteger is the largest magnitude of an integer on the wire, 2^53-1: what
// every JSON reader keeps exactly, JavaScript's included (RFC 8259, section 6).
const MaxInteger = 1<<53 - 1

// Integer is the value of a whole number, in whatever form it is written
// (512, 512.0, 5.12e2). ok is false where the literal is not a whole number, or
// its magnitude is above MaxInteger; n is then the nearest that Scaled has.
func Integer(literal string) (n int64, ok bool) {
	return Scaled(literal, 0)
}

// Scaled is literal times 10^digits, rounded away from zero, its magnitude cut
// to MaxInteger; exact says that nothing was rounded or cut. It serves
// fixed-point reading without floating point, which differs between machines.
func Scaled(literal string, digits int) (n int64, exact bool) {
	negative := false
	if len(literal) > 0 && literal[0] == '-' {
		negative = true
		literal = literal[1:]
	}
	mantissa, exponent, sticky := decimal(literal)
	exponent += digits
	exact = !sticky
	for ; exponent > 0 && mantissa <= MaxInteger && mantissa != 0; exponent-- {
		mantissa *= 10
	}
	for ; exponent < 0 && mantissa != 0; exponent++ {
		if mantissa%10 != 0 {
			sticky, exact = true, false
		}
		mantissa /= 10
	}
	if sticky && mantissa <= MaxInteger {
		mantissa++
	}
	n = int64(min(mantissa, MaxInteger))
	if negative {
		n = -n
	}
	return n, exact && mantissa <= MaxInteger
}

// decimal splits a literal without sign into mantissa * 10^exponent; sticky
// says that digits which no longer fitted were not all zero.
func decimal(literal string) (mantissa uint64, exponent int, sticky bool) {
	point := false
	for i := 0; i < len(literal); i++ {
		c := literal[i]
		switch {
		case c == '.':
			point = true
			continue
		case c == 'e' || c == 'E':
			return mantissa, clampedExponent(exponent, literal[i+1:]), sticky
		}
		hi, lo := bits.Mul64(mantissa, 10)
		if hi == 0 && lo < 1<<63 {
			mantissa = lo + uint64(c-'0')
			if point {
				exponent--
			}
			continue
		}
		sticky = sticky || c != '0'
		if !point {
			exponent++
		}
	}
	return mantissa, exponent, sticky
}

// farExponent is beyond what can change a cut or rounded result.
const farExponent = 1 << 20

func clampedExponent(exponent int, digits string) int {
	negative := digits[0] == '-'
	if negative || digits[0] == '+' {
		digits = digits[1:]
	}
	e := 0
	for i := 0; i < len(digits) && e < farExponent; i++ {
		e = 10*e + int(digits[i]-'0')
	}
	if negative {
		e = -e
	}
	return min(max(exponent+e, -farExponent), farExponent)
}

func itoa(n int64) string {
	return string(AppendInt(nil, n))
}
