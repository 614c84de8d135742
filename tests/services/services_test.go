package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == serveVerb || len(os.Args) == 3 && os.Args[1] == driveVerb {
		main() // the service, or the driver: this program started itself
		return
	}
	os.Exit(m.Run())
}

// Each service is restarted twice, and no call by a transport of outlast's is lost,
// applied twice or told otherwise than the ledger has it.
func TestServices(t *testing.T) {
	if testing.Short() {
		t.Skip("services restart in real time")
	}
	r := run{checkout: "../..", requests: 60, over: 8 * time.Second, away: time.Second, seed: 1}
	if lack := r.lacking(); lack != "" {
		t.Skip(lack)
	}
	found, err := r.all()
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range faults(found) {
		t.Error(wrong)
	}
	t.Logf("\n%s", tableOf(found))
	for number, c := range clients {
		tally := tallyOf(number, found...)
		if c.outlast && len(tally.lags) == 0 {
			t.Errorf("no call by %s's %s met an outage, so that nothing was tried", c.language, c.name)
		}
	}
	// That the clients that try nothing again lose some shows that there was something to lose.
	for number, c := range clients {
		if tally := tallyOf(number, found...); c.bare && tally.readsAnswered == tally.reads {
			t.Errorf("%s alone lost nothing", c.name)
		}
	}
}

// The page has a line for each client, with no write lost or applied twice by outlast's.
func TestThePage(t *testing.T) {
	page, err := os.ReadFile("../../docs/http-clients.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range clients {
		line := regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(c.title()) + ` \| (\d+) of (\d+) \|.*$`).FindStringSubmatch(string(page))
		if line == nil {
			t.Errorf("docs/http-clients.md has no line of %s", c.title())
		} else if c.outlast && (line[1] != line[2] || !strings.Contains(line[0], "| 0 | 0 |")) {
			t.Errorf("what the page has of %s is a fault: %s", c.title(), line[0])
		}
	}
}
