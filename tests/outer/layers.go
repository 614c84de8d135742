//go:build unix

package main

// The exit codes that the recipes in docs/operations.md choose.
const (
	codeExhausted = 75 // EX_TEMPFAIL of sysexits.h: try again
	codeInDoubt   = 76 // a choice: look first
)

// layer is what runs a command that failed again.
type layer struct {
	name string
	most int // runs in all
	// again says whether a failed run is followed by another; code is -1 after a
	// SIGKILL.
	again func(code int) bool
}

// layers are as their manuals say.
var layers = []layer{
	// Kubernetes, "Pod failure policy": FailJob for an exit code ends the Job;
	// every other failure counts to .spec.backoffLimit, which is 6 unless set.
	{"Job", 1 + 6, func(code int) bool { return code != codeInDoubt }},
	// systemd.service(5): Restart=on-failure restarts after an unclean exit code or
	// signal, but not for a code in RestartPreventExitStatus=; StartLimitBurst=
	// bounds the starts.
	{"systemd", 10, func(code int) bool { return code != codeInDoubt }},
	// GitLab, "retry:exit_codes": a job is run again, twice at most, for the codes
	// that are named, and here for a runner that died.
	{"CI", 1 + 2, func(code int) bool { return code == codeExhausted || code == -1 }},
}

// plain are the same layers without a code for a write in doubt, as they are
// where nobody has thought of it.
var plain = []layer{
	{"Job", 1 + 6, func(int) bool { return true }},
	{"systemd", 10, func(int) bool { return true }},
	{"CI", 1 + 2, func(int) bool { return true }},
}
