package standin

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
)

const (
	preconditionExit = 4
	capExit          = 75 // sysexits' EX_TEMPFAIL
)

// outcome is what a write says of itself: command_outcome.
type outcome struct{ none, capped, lostRace, recover, refresh bool }

func (o outcome) members() []member {
	did, action := "unknown", "reconcile"
	switch {
	case o.capped:
		action = "retry"
	case o.recover:
		action = "recover"
	case o.none || o.refresh:
		action = "refresh"
	}
	if o.none {
		return []member{{"execution", "not_started"}, {"effects", "none"}, {"action", action}}
	}
	return []member{{"execution", did}, {"effects", did}, {"action", action}}
}

func (o outcome) exit() int {
	switch {
	case o.capped:
		return capExit
	case o.lostRace:
		return preconditionExit
	}
	return 1
}

// failure is a failed write in full.
type failure struct {
	told
	outcome
	status     int // 0: none is known
	retryAfter string
	dispatched *bool // only of a contract error
}

func (e *exchange) failure(err error) failure {
	f := failure{told: told{text: err.Error()}, status: e.status, retryAfter: e.retryAfter}
	var r *refusal
	var c *contractError
	if errors.As(err, &r) {
		f.told, f.status, f.retryAfter, f.lostRace = r.told, r.status, r.retryAfter, r.lostRace && e.alone()
		f.capped = e.alone() && r.status == http.StatusTooManyRequests && r.code == "too_many_requests" &&
			strings.TrimSpace(r.text) != "" && len(r.details) == 0
	} else if errors.As(err, &c) {
		f.told, f.status, f.dispatched = told{text: c.text, code: mismatch}, c.status, &c.dispatched
		if c.status == 0 {
			f.status = e.status
		}
	}
	f.none = f.capped || f.lostRace || e.effectful == 0
	f.recover = f.hasAny("recovery_required", "full_text_index_rebuild_required")
	f.refresh = f.hasAny("precondition_failure", "read_set_conflict", "published_dataset_version_conflict",
		"key_conflict", "resource_limit", "merge_conflicts", "diagnostic")
	return f
}

// failedWrite prints a failure whose last line, or whose member, is the outcome.
func (e *exchange) failedWrite(err error) int {
	f := e.failure(err)
	if e.format != forPeople {
		e.object(f.members())
		return f.exit()
	}
	text, _ := f.forPeople()
	fmt.Fprintln(e.stderr, text)
	if f.status != 0 {
		fmt.Fprintf(e.stderr, "HTTP %d\n", f.status)
	}
	if f.retryAfter != "" {
		fmt.Fprintf(e.stderr, "Retry-After: %s\n", f.retryAfter)
	}
	fmt.Fprintf(e.stderr, "command_outcome: %s\n", encode(f.outcome.members()))
	return f.exit()
}

func (f *failure) members() []member {
	list := append(f.told.members(), member{"command_outcome", f.outcome.members()})
	if f.status != 0 {
		list = append(list, member{"http_status", f.status})
	}
	if f.retryAfter != "" {
		list = append(list, member{"retry_after", f.retryAfter})
	}
	if f.dispatched != nil {
		list = append(list, member{"request_dispatched", *f.dispatched})
	}
	return list
}
