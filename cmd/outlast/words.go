package main

import (
	"fmt"
	"strconv"
	"time"
)

// seconds is a duration as people read it beside a policy's numbers: in
// seconds, with a decimal where there is one.
func seconds(d time.Duration) string {
	return strconv.FormatFloat(d.Round(100*time.Millisecond).Seconds(), 'f', -1, 64) + " s"
}

func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

func choose(cond bool, yes, no string) string {
	if cond {
		return yes
	}
	return no
}
