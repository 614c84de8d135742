package policyflags

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Backoff is how long the waits are: from First to Longest, each Factor times
// as long as the one before.
type Backoff struct {
	First, Longest time.Duration
	Factor         float64 // from 1 to 1000, with at most six decimals
}

// defaultBackoff is that of the built-in policy omnigraph.
var defaultBackoff = Backoff{500 * time.Millisecond, 10 * time.Second, 2}

// jitter is how much longer a growing wait may be by chance, as in the built-in
// policy omnigraph, so that callers who failed together come back apart. A
// constant wait is exactly what its user wrote.
const jitter = 0.1

// maxMicros is the longest duration of a policy document, in microseconds.
const maxMicros = 1<<53 - 1

// ParseBackoff reads FIRST, or FIRST..LONGEST, or FIRST..LONGEST*FACTOR:
//
//	1s               1s -> 1s -> 1s -> …
//	0.5s..10s        0.5s -> 1s -> 2s -> 4s -> 8s -> 10s -> 10s -> …
//	1s..1m*3         1s -> 3s -> 9s -> 27s -> 1m -> 1m -> …
//
// FACTOR is from 1 to 1000, and 2 where it is not given. Growing waits are up
// to 10 % longer by chance, at LONGEST up to 9 % shorter.
func ParseBackoff(text string) (Backoff, error) {
	b, err := parseBackoff(text)
	if err != nil {
		return Backoff{}, fmt.Errorf("expected a delay such as 1s, or delays that grow such as 0.5s..10s or 0.5s..10s*2, not %.60q: %w", text, err)
	}
	return b, nil
}

func parseBackoff(text string) (b Backoff, err error) {
	delays, factor, hasFactor := strings.Cut(text, "*")
	first, longest, growing := strings.Cut(delays, "..")
	if b.First, err = parseDelay(first); err != nil {
		return b, err
	}
	b.Longest, b.Factor = b.First, 1
	if !growing {
		if hasFactor {
			return b, errors.New("delays that grow need a longest one")
		}
		return b, nil
	}
	if b.Longest, err = parseDelay(longest); err != nil {
		return b, err
	}
	if b.Longest < b.First {
		return b, errors.New("the longest delay is shorter than the first")
	}
	b.Factor = 2
	if hasFactor {
		b.Factor, err = parseFactor(factor)
	}
	return b, err
}

func parseFactor(text string) (float64, error) {
	text = strings.TrimSpace(text)
	n, err := strconv.ParseFloat(text, 64)
	whole, decimals, _ := strings.Cut(text, ".")
	plain := strings.Trim(whole+decimals, "0123456789") == "" && whole != "" && !strings.HasSuffix(text, ".")
	if err != nil || !plain || len(decimals) > 6 || n < 1 || n > 1000 {
		return 0, fmt.Errorf("the factor %.40q is no number from 1 to 1000 with at most six decimals", text)
	}
	return n, nil
}

func parseDelay(text string) (time.Duration, error) {
	text = strings.TrimSpace(text)
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%.40q is no duration with a unit (us, ms, s, m, h)", text)
	}
	return d, checkDuration(d)
}

// checkDuration says what is wrong with a duration for a policy document.
func checkDuration(d time.Duration) error {
	switch {
	case d <= 0:
		return errors.New("it must be longer than 0")
	case d%time.Microsecond != 0:
		return errors.New("it must be whole microseconds")
	case d.Microseconds() > maxMicros:
		return errors.New("it is longer than 2^53-1 microseconds")
	}
	return nil
}

// constant says whether all waits are the same.
func (b Backoff) constant() bool { return b.First == b.Longest || b.Factor == 1 }

func (b Backoff) object() object {
	o := object{
		"type": "exponential", "base": micros(b.First), "cap": micros(b.Longest),
		"multiplier": json.Number(strconv.FormatFloat(b.Factor, 'f', -1, 64)),
	}
	if !b.constant() {
		o["jitter"] = jitter
	}
	return o
}

// micros is a duration as a document has it.
func micros(d time.Duration) string { return strconv.FormatInt(d.Microseconds(), 10) + "us" }
