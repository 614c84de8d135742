package curl

import (
	"testing"

	"outlast/commands/internal/linetest"
)

// What the installed curl looks for is what is known of it.
func TestSettingsAsTheSystemSees(t *testing.T) {
	linetest.Traced{
		Argv:     []string{"curl", "-sS", "http://127.0.0.1:1/"},
		Settings: configs, Harmless: `/\.netrc$|/\.config$`, Sees: true,
	}.Check(t)
}
