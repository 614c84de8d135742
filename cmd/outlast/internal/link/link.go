// Package link makes the tool stand for a command: a link to it that is named
// as the command, in a folder before the command's own on PATH, is what every
// program that calls the command gets.
package link

import (
	"path/filepath"
	"runtime"
	"strings"
)

// Own is the tool's name. A name that begins with it, such as outlast-1.2, is
// the tool's too.
const Own = "outlast"

// Invoked is the command that the tool was called as, by the name it was called
// by; under is false if that was its own.
func Invoked(argv0 string) (name string, under bool) {
	if argv0 == "" {
		return "", false
	}
	name = filepath.Base(argv0)
	if runtime.GOOS == "windows" {
		name = strings.TrimSuffix(strings.ToLower(name), ".exe")
	}
	return name, !strings.HasPrefix(name, Own)
}
