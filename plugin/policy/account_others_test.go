package policy

import (
	"fmt"
	"strings"
	"testing"
)

// What a write prints is read alike for every verb that gives an account, with
// whatever stands before it, and of a release whose contract has another number.
func TestAccountsOfOtherVerbsAndReleases(t *testing.T) {
	banners := []string{
		"", "omnigraph branch create → http://h:1/graphs/g (served)\n", "omnigraph schema apply → http://h:1/graphs/g (served)\n",
		"omnigraph load → /srv/g (direct)\n", "warning: unknown key `x`\nomnigraph branch merge → http://h:1 (served)\n",
		"warning: `omnigraph ingest` is deprecated\nomnigraph ingest → http://h:1 (served)\n", "cluster admission retained: root=/r lock_id=1\n",
	}
	for _, a := range accounts(t) {
		if a.Command != "mutate" || a.Version == "0.11" || a.Exit == 0 || strings.HasPrefix(a.Stderr, "warning: ") {
			continue
		}
		want, of := verdictOf(t, a.call(true), a.result())
		for _, banner := range banners {
			for _, contract := range []string{"0.12", "0.14", "1.0"} {
				other := strings.NewReplacer("pi: 0.12", "pi: "+contract, "pi: 0.13", "pi: "+contract)
				result := exited(a.Exit, banner+other.Replace(a.Stderr), other.Replace(a.Stdout))
				if got, action := verdictOf(t, a.call(true), result); got != want || action.Kind != of.Kind {
					t.Errorf("%s of %s after %q: %s, want %s", a.ID, contract, banner, action.Encode(), of.Encode())
				}
			}
		}
	}
}

// A whole report of a write is of a release before 0.12, whose server does not
// listen while it loads: the words of later ones are a quotation there. A read
// may be repeated all the same.
func TestWordsOfLaterReleasesInAWholeReport(t *testing.T) {
	for text := range refusedTexts {
		if got, action := verdictOf(t, write0(1), exited(1, printed(text), "")); got != "indeterminate" {
			t.Errorf("%s", action.Encode())
		}
		if got, action := verdictOf(t, read0(1), exited(1, printed(text), "")); got != "retry" || action.Kind != "unavailable" {
			t.Errorf("%s", action.Encode())
		}
	}
	for _, text := range []string{
		"graph is unavailable; an operator must apply an explicit correction or restart after fixing startup configuration",
		"precondition failed on branch 'main': expected head 'a' but current is b", // 0.10 ends with 4 for it
	} {
		if got, action := verdictOf(t, write0(1), exited(1, printed(text), "")); got != "indeterminate" {
			t.Errorf("%s", action.Encode())
		}
	}
}

// The action tells of details that people are not shown: with any, a 503 is no
// plain refusal, and a 409 is one of the server's own.
func TestTheActionTellsOfDetails(t *testing.T) {
	lines := func(message string, status int, action string) (string, string) {
		got, a := verdictOf(t, write0(1), exited(1, fmt.Sprintf("%s\nHTTP %d\n%s\n", message, status, strings.Replace(unknownEffects, "reconcile", action, 1)), ""))
		return got, string(a.Encode())
	}
	for text := range refusedTexts {
		for action, want := range map[string]string{"reconcile": "retry", "refresh": "indeterminate", "recover": "indeterminate"} {
			if got, a := lines(text, 503, action); got != want {
				t.Errorf("%s: %s", action, a)
			}
		}
	}
	for _, text := range []string{
		"merge conflicts: node type 'Person', entity id 'p1' (divergent_update)", "write authority 'graph_head:main' changed during preparation",
		"stale view of dataset for node type 'Person'", "full-text index 'i' requires rebuild: run omnigraph rebuild-full-text-indexes",
	} {
		for _, status := range []int{409, 500, 429, 200} {
			for _, action := range []string{"reconcile", "refresh", "recover"} {
				want := "indeterminate"
				if status == 409 && action != "reconcile" {
					want = "stop"
				}
				if got, a := lines(text, status, action); got != want {
					t.Errorf("HTTP %d, %s: %s", status, action, a)
				}
			}
		}
	}
}

// A read loses no race, and has no cap of writes: such words in the answer to one
// are of a failure that they are quoted in, if its code says so.
func TestLostRacesOfReads(t *testing.T) {
	for _, text := range []string{
		"write authority 'graph_head:main' changed during preparation (expected a, current b) — reprepare from the current branch state",
		"stale view of dataset for node type 'Person': expected 22 but current is 23 — refresh and retry", "actor in-flight count cap 16 exceeded",
	} {
		quoted := exited(1, "", `{"error":`+encoded(text)+`,"code":"internal"}`)
		if got, action := verdictOf(t, read0(1), quoted); got != "stop" {
			t.Errorf("%s", action.Encode())
		}
		open := exited(1, "Error: \n   0: \x1b[91m"+text+"\x1b[0m\n", "")
		if got, action := verdictOf(t, read0(1), open); (got == "stop") != (action.Kind == "failed") || got == "retry" && action.Kind != "admission_cap" {
			t.Errorf("%s", action.Encode())
		}
		if got, action := verdictOf(t, read0(1), exited(1, printed(text), "")); got != "retry" { // as 0.8 to 0.11 print it
			t.Errorf("%s", action.Encode())
		}
	}
}

// A path that the server itself does not know was not acted upon. A page of
// something in front of it says more.
func TestAPathThatTheServerDoesNotKnow(t *testing.T) {
	for body, want := range map[string]string{"": "stop", "<html>": "indeterminate", "\nx": "indeterminate"} {
		text := "server returned 404 Not Found: " + body
		for _, result := range []string{
			`{"error":` + encoded(text) + `,"command_outcome":` + strings.TrimPrefix(unknownEffects, outcomeLine) + `,"http_status":404}`, "",
		} {
			r := exited(1, "", result)
			if result == "" {
				r = exited(1, text+"\nHTTP 404\n"+unknownEffects+"\n", "")
			}
			if got, action := verdictOf(t, write0(1), r); got != want {
				t.Errorf("%q: %s", body, action.Encode())
			}
		}
	}
}

// A lost race that the server tells with more to it than its text is not the
// plain one that may run again.
func TestALostRaceWithDetailsIsNotRunAgain(t *testing.T) {
	object := func(more string) string {
		return `{"error":"retryable storage commit conflict: Commit conflict for version 3","code":"conflict"` + more +
			`,"command_outcome":{"execution":"unknown","effects":"unknown","action":"reconcile"},"http_status":409}`
	}
	for more, want := range map[string]string{
		"": "retry",
		`,"read_set_conflict":{"expected":"a","actual":"b"}`:                "indeterminate",
		`,"key_conflict":{"key":"x"}`:                                       "indeterminate",
		`,"published_dataset_version_conflict":{"expected":1,"actual":2}`:   "indeterminate",
		`,"recovery_required":{"operation_id":"01J0000000000000000000000"}`: "indeterminate",
	} {
		if got, action := verdictOf(t, write0(1), exited(1, "", object(more))); got != want {
			t.Errorf("%s: %s, want %s", more, action.Encode(), want)
		}
	}
}
