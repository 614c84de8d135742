package tests

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"outlast/abi"
	"outlast/commands"
	"outlast/journal"
	"outlast/plugin/policy"
	"outlast/simulate"
)

// omnigraph is the numbers of the built-in policy that pages quote.
func omnigraph(t *testing.T) (budget struct {
	MaxWait           string `json:"max_wait"`
	Windows           int
	BrokenConnections int `json:"broken_connections"`
	Backoff           struct{ Base, Cap string }
	Wake              struct{ Spread string }
}, retryAfter string) {
	t.Helper()
	var doc struct{ Budgets map[string]json.RawMessage }
	read := func(text []byte, into any) {
		if err := json.Unmarshal(text, into); err != nil {
			t.Fatal(err)
		}
	}
	read([]byte(policy.Source("omnigraph")), &doc)
	read(doc.Budgets["unavailable"], &budget)
	var capped struct {
		RetryAfter struct{ Max string } `json:"retry_after"`
	}
	read(doc.Budgets["admission_cap"], &capped)
	return budget, capped.RetryAfter.Max
}

// spaced writes 150s and 30ms as a page does: 150 s, 30 ms.
func spaced(duration string) string {
	number := strings.TrimRight(duration, "ms")
	return number + " " + duration[len(number):]
}

// thousands writes 10000 as a page does: 10,000.
func thousands(n int) string { return fmt.Sprintf("%d,%03d", n/1000, n%1000) }

// The figures of pages that follow from the code are the code's.
func TestFigures(t *testing.T) {
	budget, retryAfter := omnigraph(t)
	wait, longest := spaced(budget.MaxWait), spaced(budget.Backoff.Cap)
	kib := func(bytes int) string { return fmt.Sprintf("%d KiB", bytes>>10) }
	for _, c := range []struct{ page, says string }{
		{"abi/ABI.md", fmt.Sprintf("Version %d.%d.", abi.Major, abi.Minor)},
		{"docs/python.md", fmt.Sprintf("'%d.%d.%d')", abi.Major, abi.Minor, abi.Patch)},
		{"CHANGELOG.md", fmt.Sprintf("contract, version %d.%d:", abi.Major, abi.Minor)},

		{"abi/ABI.md", fmt.Sprintf("| a request | %d MiB |", abi.MaxRequestBytes>>20)},
		{"abi/ABI.md", "| a document | " + kib(abi.MaxDocumentBytes)},
		{"abi/ABI.md", fmt.Sprintf("| nesting | %d arrays", abi.MaxDepth)},
		{"abi/ABI.md", "| a text of a result | " + thousands(abi.MaxTextBytes) + " bytes"},
		{"abi/ABI.md", "| a state | " + thousands(abi.MaxStateBytes) + " bytes"},
		{"abi/ABI.md", "| the last error of an outcome | " + thousands(abi.MaxErrorBytes) + " bytes"},
		{"abi/ABI.md", "| attempts of a call | " + thousands(abi.MaxAttempts)},
		{"abi/ABI.md", fmt.Sprintf("| attempts in one call of `run` | %d |", abi.MaxRunAttempts)},
		{"abi/ABI.md", fmt.Sprintf("the first %[1]d and the last %[1]d |", abi.HistoryEnds)},
		{"abi/ABI.md", fmt.Sprintf("| a label | %d bytes", abi.MaxLabelBytes)},

		{"README.md", "tried again for " + wait},
		{"README.md", "at the cap of " + longest},
		{"RATIONALE.md", "`\"max_wait\": \"" + budget.MaxWait + "\"`"},
		{"RATIONALE.md", "up to " + spaced(retryAfter) + ", never earlier"},
		{"RATIONALE.md", "spread over " + spaced(budget.Wake.Spread)},
		{"docs/limits.md", "`wake.spread` is " + spaced(budget.Wake.Spread)},
		{"docs/run.md", "left out for " + longest + " at most"},
		{"docs/run.md", "goes on for " + wait},
		{"docs/sizing.md", "| **" + budget.MaxWait + "** (`omnigraph`)"},
		{"python/README.md", "every " + longest + ", each a little longer by chance, for " + wait},
		{"js/README.md", "every " + longest + ", each a little longer by chance, for " + wait},

		{"docs/operations.md", "holds " + thousands(journal.DefaultMaxRecords) + " keys"},
		{"docs/operations.md", fmt.Sprintf("older than %d days", journal.DefaultKeep/(24*time.Hour))},
		{"docs/operations.md", "up to " + kib(journal.MaxOutput) + " of each output stream"},
	} {
		text, err := os.ReadFile(filepath.Join("..", c.page))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), c.says) {
			t.Errorf("%s does not say %q", c.page, c.says)
		}
	}
	if budget.Windows != 3 || budget.BrokenConnections != 2 {
		t.Errorf("%d windows, %d broken connections: the pages say three and two", budget.Windows, budget.BrokenConnections)
	}
	for _, name := range policy.Names() {
		if n := len(policy.Source(name)); n >= 32<<10 {
			t.Errorf("%s has %d bytes: ABI.md and abi.go say less than 32 KiB", name, n)
		}
	}
}

// The fleets of docs/sizing.md come to what the page says.
func TestFleetFigures(t *testing.T) {
	text, err := os.ReadFile("../docs/sizing.md")
	if err != nil {
		t.Fatal(err)
	}
	says := func(what string) {
		if !strings.Contains(string(text), what) {
			t.Errorf("docs/sizing.md does not say %q", what)
		}
	}
	for row, change := range map[string]func(*simulate.Fleet){
		"by the schedule":  func(f *simulate.Fleet) { f.Scene.Watch, f.Call.Write = nil, false },
		"watching, reads":  func(f *simulate.Fleet) { f.Call.Write = false },
		"watching, writes": func(*simulate.Fleet) {},
		"watching, 50 on each machine (`--per-machine 50`), writes": func(f *simulate.Fleet) { f.PerMachine = 50 },
		"watching, `spread=10s`, writes": func(f *simulate.Fleet) {
			if f.Policy, err = f.Policy.WithSpread(10_000_000); err != nil {
				t.Fatal(err)
			}
		},
	} {
		f := stampede(t)
		change(f)
		r, err := f.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		served, after := fmt.Sprintf("%.3g %%", 100*float64(r.Served)/float64(r.Callers)), "never"
		if r.Served < r.Callers && r.Twice == 0 && r.Served+r.InDoubt == r.Callers {
			served += ", the others in doubt"
		}
		if d, ever := r.Recovered(0.99); ever {
			after = fmt.Sprintf("%g s", d.Seconds())
		}
		says(fmt.Sprintf("| %s | %d | %s | %s |", row, r.Relapses, served, after))
		if row == "watching, reads" {
			safe, err := f.Safe(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			says(fmt.Sprintf("up to %d of these", safe))
		}
	}
}

// stampede is that page's fleet, as the tool's flags describe it.
func stampede(t *testing.T) *simulate.Fleet {
	doc, err := policy.BuiltIn("omnigraph")
	if err != nil {
		t.Fatal(err)
	}
	sample := func(what commands.Ending) abi.Result {
		r, _ := commands.Sample("omnigraph", what)
		return r
	}
	const second = time.Second
	return &simulate.Fleet{
		Policy: doc, Call: abi.Call{Label: "simulate", Remote: true, ConnectRetry: true, Write: true}, Callers: 20_000, Seed: 1,
		Scene: simulate.Scene{
			Away: []simulate.Span{{To: 60*second + second/2}}, Watch: &simulate.AsHost,
			Results: simulate.Results{Down: sample(commands.Refused), Broken: sample(commands.Broken)},
		},
		Server: simulate.Server{PerSecond: 2000, RelapseAt: 3000, RelapseFor: 20 * second},
	}
}
