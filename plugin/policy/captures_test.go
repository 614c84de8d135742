package policy

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"

	"outlast/abi"
)

// capture is what a real omnigraph 0.10 printed when it failed, with what it
// was by each policy; effects is given for writes.
type capture struct {
	ID          string
	Kind        string
	WitanCore   string `json:"witan_core"`
	Effects     abi.Effects
	ReadOrWrite string `json:"read_or_write"`
	Remote      bool
	Exit        int64
	Stdout      string
	Stderr      string
}

func (c *capture) call() abi.Call {
	seed := int64(1)
	return abi.Call{Remote: c.Remote, Write: c.ReadOrWrite == "write", ConnectRetry: true, Seed: &seed}
}

func (c *capture) result() *abi.Result { return exited(c.Exit, c.Stderr, c.Stdout) }

// failureText is a text that a client's tests know, of omnigraph 0.8 to 0.13.
type failureText struct {
	Transport, Stream, Text string
	Omnigraph               string
	WitanCore               string `json:"witan_core"`
	Exit, Status            *int64
}

func (f *failureText) result() *abi.Result {
	if f.Transport == "http" {
		return &abi.Result{HTTPStatus: f.Status, Message: abi.Text{Head: f.Text}}
	}
	code := int64(1)
	if f.Exit != nil {
		code = *f.Exit
	}
	if f.Stream == "stdout" {
		return exited(code, "", f.Text)
	}
	return exited(code, f.Text, "")
}

// lines reads a file of one JSON object a line.
func lines[T any](t testing.TB, file string) []T {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var list []T
	scan := bufio.NewScanner(f)
	scan.Buffer(nil, 1<<20)
	for scan.Scan() {
		var item T
		if err := json.Unmarshal(scan.Bytes(), &item); err != nil {
			t.Fatalf("%s: line %d: %v", file, len(list)+1, err)
		}
		list = append(list, item)
	}
	if scan.Err() != nil || len(list) == 0 {
		t.Fatalf("%s: %d lines: %v", file, len(list), scan.Err())
	}
	return list
}

func captures(t testing.TB) []capture { return lines[capture](t, "testdata/captures.jsonl") }

func kindBy(t testing.TB, policy string, call abi.Call, result *abi.Result) string {
	t.Helper()
	doc := builtin(t, policy)
	rule, _ := doc.recognise(&call, doc.view(&call, result))
	return rule.Kind
}

func TestCaptures(t *testing.T) {
	for _, c := range captures(t) {
		if got := kindBy(t, "omnigraph", c.call(), c.result()); got != c.Kind {
			t.Errorf("%s by omnigraph: %s, want %s", c.ID, got, c.Kind)
		}
		if got := kindBy(t, "witan-core", c.call(), c.result()); got != c.WitanCore {
			t.Errorf("%s by witan-core: %s, want %s", c.ID, got, c.WitanCore)
		}
	}
}

// Cut to its head and tail, a capture is what it was, or is not recognised;
// it is never taken for another failure.
func TestCapturesThatAreCut(t *testing.T) {
	stride := 7
	if testing.Short() {
		stride = 97
	}
	for _, c := range captures(t) {
		for i := 0; i <= len(c.Stderr); i += stride {
			for _, j := range []int{i, i + 5, i + 50} {
				result := c.result()
				result.Stderr = abi.Text{Head: c.Stderr[:i], Tail: c.Stderr[min(j, len(c.Stderr)):], Cut: true}
				got := kindBy(t, "omnigraph", c.call(), result)
				if got != c.Kind && got != "failed" && got != "crashed" && got != "precondition_failed" {
					t.Fatalf("%s, cut from %d to %d, is %s, want %s", c.ID, i, j, got, c.Kind)
				}
			}
		}
	}
}

// A write is tried again, or said to be without effect, only if it had none.
func TestEffectsOfCaptures(t *testing.T) {
	for _, c := range captures(t) {
		call := c.call()
		action, _ := ask(t, builtin(t, "omnigraph"), &call, "", &abi.Event{Type: abi.Attempted, Result: c.result()})
		switch {
		case !call.Write && action.Type == abi.Stop && action.Outcome.Effects != abi.EffectsNone:
			t.Errorf("%s: a read with effects", c.ID)
		case !call.Write:
		case action.Type == abi.Retry && c.Effects != abi.EffectsNone:
			t.Errorf("%s: a write that may have been applied is tried again: %s", c.ID, action.Encode())
		case action.Type == abi.Stop && action.Outcome.Effects != c.Effects:
			t.Errorf("%s: effects %s, want %s", c.ID, action.Outcome.Effects, c.Effects)
		}
	}
}

// What each capture leads to, for the call that it is of.
func TestActionsOnCaptures(t *testing.T) {
	budgets := map[string]string{"unavailable": "unavailable", "admission_cap": "admission_cap", "conflict": "conflict"}
	readBudgets := map[string]string{"unavailable": "unavailable", "admission_cap": "admission_cap", "interrupted": "unavailable", "recovery_required": "recovery"}
	for _, c := range captures(t) {
		call := c.call()
		action, _ := ask(t, builtin(t, "omnigraph"), &call, "", &abi.Event{Type: abi.Attempted, Result: c.result()})
		want := readBudgets[c.Kind]
		if call.Write {
			want = budgets[c.Kind]
			if c.Kind == "needs_repair" && !call.Remote {
				want = "conflict"
			}
		}
		if action.Type == abi.Stop && want != "" || action.Type == abi.Retry && action.Budget != want {
			t.Errorf("%s: %s, want a retry on %q", c.ID, action.Encode(), want)
		}
		if action.Repair != (c.Kind == "needs_repair" && call.Write && !call.Remote) {
			t.Errorf("%s: repair is %t", c.ID, action.Repair)
		}
		if action.Type == abi.Stop && call.Write && c.Effects == abi.EffectsUnknown && action.Outcome.Type != abi.OutcomeIndeterminate {
			t.Errorf("%s: %s", c.ID, action.Encode())
		}
	}
}

func TestFailureTexts(t *testing.T) {
	for _, c := range lines[failureText](t, "testdata/texts.jsonl") {
		if got := kindBy(t, "omnigraph", read0(1), c.result()); got != c.Omnigraph {
			t.Errorf("%q by omnigraph: %s, want %s", c.Text, got, c.Omnigraph)
		}
		got := kindBy(t, "witan-core", read0(1), c.result())
		if c.WitanCore == "not_storage_mismatch" {
			if got == "storage_mismatch" {
				t.Errorf("%q by witan-core: %s", c.Text, got)
			}
		} else if got != c.WitanCore {
			t.Errorf("%q by witan-core: %s, want %s", c.Text, got, c.WitanCore)
		}
	}
}
