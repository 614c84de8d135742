package policyflags

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxExit is the highest exit code of a Unix process.
const maxExit = 255

// ParseExits reads a list of exit codes and ranges of them, such as
// 7,28,100-110, and gives each code once, in order.
func ParseExits(list string) ([]int64, error) {
	var listed [maxExit + 1]bool
	for _, item := range strings.Split(list, ",") {
		first, last, err := parseRange(strings.TrimSpace(item))
		if err != nil {
			return nil, fmt.Errorf("expected exit codes from 1 to %d and ranges of them, such as 7,28,100-110, not %.40q: %w", maxExit, item, err)
		}
		for n := first; n <= last; n++ {
			listed[n] = true
		}
	}
	var codes []int64
	for n, yes := range listed {
		if yes {
			codes = append(codes, int64(n))
		}
	}
	return codes, nil
}

func parseRange(item string) (first, last int, err error) {
	from, to, ranged := strings.Cut(item, "-")
	if !ranged {
		to = from
	}
	if first, err = parseExit(from); err != nil {
		return 0, 0, err
	}
	if last, err = parseExit(to); err != nil {
		return 0, 0, err
	}
	if first > last {
		return 0, 0, errors.New("the range goes backwards")
	}
	return first, last, nil
}

func parseExit(text string) (int, error) {
	digits := strings.TrimSpace(text)
	n, err := strconv.ParseUint(digits, 10, 16)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange):
		return 0, fmt.Errorf("%.40q is no number", digits)
	case err != nil || n > maxExit:
		return 0, fmt.Errorf("no process ends with %.40s", digits)
	case n == 0:
		return 0, errors.New("0 is success, which is never tried again")
	}
	return int(n), nil
}

// signals are the names of the signals that a shell, and outlast, show as one
// of these codes: 128 and the signal's number.
func signals(codes []int64) []string {
	var names []string
	for _, code := range codes {
		if name := signalName(int(code) - 128); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
