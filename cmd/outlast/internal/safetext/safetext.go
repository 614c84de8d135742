// Package safetext makes texts fit for a line that outlast prints: one line, without control
// characters, and without what may quote the wrapped command.
package safetext

import (
	"errors"
	"strings"
	"unicode"

	"outlast/abi"
	"outlast/host"
)

// maxLine bounds a text in bytes (a choice: a path and a sentence fit, and a
// record with two of them is still written to a pipe in one piece).
const maxLine = 1024

// Line is s in one line of at most 1,024 bytes. What cannot be shown is a
// question mark, so that nothing steers the terminal.
func Line(s string) string {
	s = strings.TrimSpace(s)
	if len(s) > maxLine {
		s = strings.ToValidUTF8(s[:maxLine], "")
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == unicode.ReplacementChar:
			return '?'
		case unicode.IsPrint(r):
			return r
		case unicode.IsSpace(r):
			return ' '
		}
		return '?'
	}, s)
}

// ASCII is Line with a question mark for whatever takes more than one byte, so
// that its bytes are its columns.
func ASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r > unicode.MaxASCII {
			return '?'
		}
		return r
	}, Line(s))
}

// Error is an error's text as Line has it. Of an error that a plugin answered
// with it has the code only: the rest is the plugin's, which knows what the
// command printed and may quote it.
func Error(err error) string {
	var answer *abi.Error
	var fault *host.PolicyError
	if !errors.As(err, &answer) || errors.As(err, &fault) {
		return Line(strings.TrimPrefix(err.Error(), "outlast: "))
	}
	text := "the plugin answered with the error " + answer.Code
	var p *host.PluginError
	if errors.As(err, &p) {
		text = p.Doing + ": " + text
	}
	return Line(text)
}
