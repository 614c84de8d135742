// Package redact keeps secrets out of texts that leave the process.
package redact

import (
	"slices"
	"strings"
)

// mark stands in for what is left out.
const mark = "[redacted]"

// Secrets is a text in which each stretch that secrets cover is left out. One may
// be a part of another, or overlap it, so all are looked for in the text as it
// came. An empty secret is none.
func Secrets(text string, secrets []string) string {
	var found [][2]int
	for _, secret := range secrets {
		for at := next(text, secret, 0); at >= 0; at = next(text, secret, at+1) {
			found = append(found, [2]int{at, at + len(secret)})
		}
	}
	if len(found) == 0 {
		return text
	}
	slices.SortFunc(found, func(a, b [2]int) int { return a[0] - b[0] })
	var clean strings.Builder
	done := 0
	for _, stretch := range found {
		if stretch[0] >= done {
			clean.WriteString(text[done:stretch[0]] + mark)
		}
		done = max(done, stretch[1])
	}
	return clean.String() + text[done:]
}

// next is where the secret is, at or after a place; -1: nowhere.
func next(text, secret string, from int) int {
	if secret == "" {
		return -1
	}
	at := strings.Index(text[from:], secret)
	if at < 0 {
		return -1
	}
	return from + at
}
