// Package environ reads an environment in the form that os.Environ gives: a list
// of NAME=VALUE. The last of a name counts, as it does for a process that os/exec
// starts. On Windows names have no case.
package environ

import (
	"runtime"
	"strings"
)

// Find is a variable, and whether there is one.
func Find(env []string, name string) (value string, ok bool) {
	for i := len(env) - 1; i >= 0; i-- {
		if n, v, is := strings.Cut(env[i], "="); is && isSame(n, name) {
			return v, true
		}
	}
	return "", false
}

// Get is a variable, "" where there is none.
func Get(env []string, name string) string {
	value, _ := Find(env, name)
	return value
}

// With is an environment in which a variable has this value and no other; the
// list that is given stays as it is.
func With(env []string, name, value string) []string {
	return append(Without(env, name), name+"="+value)
}

// Without is an environment without a variable; the list that is given stays as
// it is.
func Without(env []string, name string) []string {
	kept := make([]string, 0, len(env)+1)
	for _, entry := range env {
		if n, _, _ := strings.Cut(entry, "="); !isSame(n, name) {
			kept = append(kept, entry)
		}
	}
	return kept
}

func isSame(a, b string) bool {
	return a == b || runtime.GOOS == "windows" && strings.EqualFold(a, b)
}
