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

// What a run must not show is named where it is shown: of outlast's clients a write that is
// applied twice, or that ended in an error, and of any a write that was answered and is in no
// ledger, and a call of which nothing was told.
func TestFaults(t *testing.T) {
	for what, one := range map[string]struct {
		method, outcome string
		applied         int
		ours, others    string
	}{
		"right":         {"POST", answered, 1, "", ""},
		"in doubt":      {"POST", indeterminate, 1, "", ""},
		"twice":         {"POST", answered, 2, "1 writes were applied twice", ""},
		"lost":          {"PUT", answered, 0, "1 writes were answered and are not in the ledger", "1 writes were answered and are not in the ledger"},
		"an error":      {"DELETE", "raised", 0, "1 writes ended neither answered nor in doubt", ""},
		"a read's":      {"GET", "raised", 0, "1 reads were not answered", ""},
		"nothing known": {"GET", "", 0, "1 calls of which nothing was told", "1 calls of which nothing was told"},
	} {
		for number, c := range clients {
			m := &measured{service: "a service", calls: make([][]call, len(clients)), told: map[string]told{}, applied: map[string]int{"x": one.applied}}
			m.calls[number] = []call{{ID: "x", Method: one.method}}
			if one.outcome != "" {
				m.told["x"] = told{ID: "x", Outcome: one.outcome}
			}
			want := one.others
			if c.outlast {
				want = one.ours
			}
			if got := strings.Join(faults([]*measured{m}), "\n"); want == "" && got != "" || !strings.HasSuffix(got, want) || strings.Contains(got, "\n") {
				t.Errorf("%s, by %s: %q", what, c.name, got)
			}
		}
	}
}
