package psql

import (
	"testing"

	"outlast/commands/internal/linetest"
)

// What the installed psql looks for is what is known of it.
func TestSettingsAsTheSystemSees(t *testing.T) {
	linetest.Traced{
		Argv:     []string{"psql", "-h", "127.0.0.1", "-p", "1", "-c", "SELECT"},
		Settings: configs, Harmless: `/\.pgpass$|/\.pg_service\.conf$|/\.postgresql(/|$)|/\.postgresqlrc$`,
	}.Check(t)
}
