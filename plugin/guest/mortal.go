//go:build wasip1 && outlast_mortal

package main

import "os"

// With this tag the plugin dies at each third attempt that an instance asks for,
// and after each fifth wait, to test that hosts go on with another instance. It
// is never shipped.
func init() { caller = &mortalHost{} }

type mortalHost struct {
	extismHost
	attempts, sleeps int
}

func (m *mortalHost) sleep(action []byte) string {
	answer := m.extismHost.sleep(action)
	if m.sleeps++; m.sleeps == 5 {
		os.Exit(1)
	}
	return answer
}

func (m *mortalHost) attempt(action []byte) string {
	if m.attempts++; m.attempts == 3 {
		os.Exit(1)
	}
	return m.extismHost.attempt(action)
}
