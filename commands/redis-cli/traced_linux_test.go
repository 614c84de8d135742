package rediscli

import (
	"testing"

	"outlast/commands/internal/linetest"
)

// What the installed redis-cli looks for is what is known of it.
func TestSettingsAsTheSystemSees(t *testing.T) {
	linetest.Traced{Argv: []string{"redis-cli", "-p", "1", "GET", "a"}, Harmless: `^$`}.Check(t)
}
