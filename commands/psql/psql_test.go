package psql

import (
	"os"
	"path/filepath"
	"testing"

	"outlast/commands/internal/linetest"
)

func TestLines(t *testing.T) {
	linetest.Check(t, Command, map[string]linetest.Sure{
		"psql -X -o /dev/null -c SELECT": linetest.Direct,
		"psql -X -c SELECT":              linetest.Direct,
		"psql -c SELECT":                 linetest.Direct,
		"psql -Xqc SELECT db user":       linetest.Direct,
		"psql --command=SELECT --host h": linetest.Direct,
		"psql -l":                        linetest.Direct,
		"psql -c SELECT -c \\warn":       linetest.Unsure,
		"psql -c SELECT -v x=\\!":        linetest.Unsure,
		"psql -c SELECT -o |sh":          linetest.Unsure,
		"psql -c SELECT -o/dev/stderr":   linetest.Unsure,
		"psql -c SELECT -L /proc/1/fd/2": linetest.Unsure,
		"psql -f HOME/a.sql":             linetest.Direct,
		"psql -f HOME/b.sql":             linetest.Unsure, // not there
		"psql -f HOME":                   linetest.Unsure,
		"psql -f -":                      linetest.Unsure,
		"psql -c SELECT -f HOME/b.sql":   linetest.Unsure,
		"psql -f /dev/null":              linetest.Unsure,
		"psql":                           linetest.Unsure,
		"psql db":                        linetest.Unsure,
		"psql -s -c SELECT":              linetest.Unsure,
		"psql --comm SELECT":             linetest.Unsure,
		"psql -c":                        linetest.Unsure,
	}, "a.sql")
	for _, rc := range []string{".psqlrc", ".psqlrc-15"} {
		linetest.Check(t, Command, map[string]linetest.Sure{"psql -c SELECT": linetest.Unsure, "psql -X -c SELECT": linetest.Direct}, rc)
	}
	if l := Command.Parse([]string{"psql", "-c", "SELECT"}, []string{"HOME=" + t.TempDir(), "PSQLRC=x"}); l.Direct {
		t.Error("PSQLRC names a file that psql runs")
	}
}

// A script with a backslash may have commands of psql's.
func TestScripts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.sql")
	for text, want := range map[string]bool{"": true, "SELECT 1;": true, "SELECT 1 \\g\n": false, "\\! x": false} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := isPlainSQL(path); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}
