package policy

import (
	"strings"

	"outlast/abi/strictjson"
)

// unit is a duration's unit and its length in microseconds.
type unit struct {
	name   string
	micros int64
	digits int // how many decimals of it are still whole microseconds
}

// Longer names first: "ms" must not be read as "m".
var units = []unit{
	{"us", 1, 0},
	{"ms", 1_000, 3},
	{"s", 1_000_000, 6},
	{"m", 60_000_000, 7},
	{"h", 3_600_000_000, 8},
}

// parseDuration reads a duration such as 150s, 500ms, 42.5s or 2m30s as
// microseconds. Without a unit a number could be anything, so it is refused;
// so is one with decimals that are no whole microseconds, or above 2^53-1 of them.
func parseDuration(s string) (micros int64, ok bool) {
	for rest := s; rest != ""; {
		end := strings.IndexFunc(rest, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
		if end <= 0 {
			return 0, false
		}
		u, found := unitOf(rest[end:])
		if !found || !isDecimal(rest[:end]) {
			return 0, false
		}
		n, exact := scaleTo(rest[:end], u)
		if !exact || n > strictjson.MaxInteger-micros {
			return 0, false
		}
		micros += n
		rest = rest[end+len(u.name):]
	}
	return micros, s != ""
}

func unitOf(s string) (unit, bool) {
	for _, u := range units {
		if strings.HasPrefix(s, u.name) {
			return u, true
		}
	}
	return unit{}, false
}

func isDecimal(s string) bool {
	return s[0] != '.' && s[len(s)-1] != '.' && strings.Count(s, ".") <= 1
}

// scaleTo is number times u in microseconds.
func scaleTo(number string, u unit) (n int64, exact bool) {
	scaled, exact := strictjson.Scaled(number, u.digits)
	power := int64(1)
	for range u.digits {
		power *= 10
	}
	perStep := u.micros / power // 1 up to seconds, 6 for minutes, 36 for hours
	if scaled > strictjson.MaxInteger/perStep {
		return 0, false
	}
	return scaled * perStep, exact
}

// formatDuration writes microseconds in the largest unit up to seconds in which
// they are at least one, so that 150 s reads "150s" and half a second "500ms".
func formatDuration(micros int64) string {
	for i := 2; i > 0; i-- {
		if u := units[i]; micros >= u.micros {
			return decimalOf(micros, u.digits) + u.name
		}
	}
	return string(strictjson.AppendInt(nil, micros)) + "us"
}

// decimalOf is n divided by 10^digits as a decimal without trailing zeros.
func decimalOf(n int64, digits int) string {
	text := string(strictjson.AppendInt(nil, n))
	if len(text) <= digits {
		text = strings.Repeat("0", digits-len(text)+1) + text
	}
	point := len(text) - digits
	return strings.TrimSuffix(strings.TrimRight(text[:point]+"."+text[point:], "0"), ".")
}
