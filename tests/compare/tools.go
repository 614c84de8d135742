//go:build unix

package main

// tool is a program that tries a command again.
type tool struct {
	name    string
	title   string
	program string
	// argv asks for at most three attempts of argv, close together.
	argv func(program string, argv []string) []string
}

// tools are those that a registry has and that run: Debian's retry
// (minfrin/retry) and attempt-cli from crates.io. npm's retry-cli 0.7.0 ends
// each call with a TypeError on Node 20.
var tools = []tool{
	{"outlast", "outlast", "outlast", func(p string, argv []string) []string {
		return append([]string{p, "run", "--retry-exit", "1-255", "--attempts", "3", "--backoff", "1s", "--repeatable", "--"}, argv...)
	}},
	{"retry", "retry (Debian) 1.0.5", "retry", func(p string, argv []string) []string {
		return append([]string{p, "--times=3", "--delay=1", "--"}, argv...)
	}},
	{"attempt", "attempt-cli 1.1.1", "attempt", func(p string, argv []string) []string {
		return append([]string{p, "fixed", "-a", "3", "-w", "1s", "-F", "--retry-if-killed", "--"}, argv...)
	}},
}
