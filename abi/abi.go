// Package abi is the contract between outlast's plugin and its hosts: names,
// limits, and the messages that cross the boundary, with one codec for both
// sides. ABI.md says it in prose, schema/ as JSON Schemas, vectors/ as cases
// that every host must pass.
package abi

// The version of the contract. Breaking it raises Major, which is the number
// in the marker export; an added field or export raises Minor; an added value
// raises Patch.
const (
	Major = 1
	Minor = 3
	Patch = 0
)

// Release is the version of outlast: the plugin, the Go host and the tool are
// released together.
const Release = "0.1.0"

// Exports of the plugin. All but the marker take bytes and give bytes by
// Extism's calling convention and return 0; any other code means that the ABI
// is broken.
const (
	ExportMarker   = "outlast_abi_1" // never called; its presence is the version
	ExportDescribe = "describe"
	ExportCheck    = "check"
	ExportDecide   = "decide"
	ExportRun      = "run"
)

// Host functions, which the plugin imports from UserModule. Each takes the
// offset of its input and returns the offset of its answer; offset 0 means
// that the host failed.
const (
	UserModule  = "extism:host/user"
	HostNow     = "outlast_now"
	HostSleep   = "outlast_sleep"
	HostAttempt = "outlast_attempt"
)

// Limits of the contract. All are choices, but for MaxAttempts and
// MaxRunAttempts, which are the design's.
const (
	// MaxRequestBytes bounds a request: four texts of MaxTextBytes, each byte
	// written as a \u escape, and a document fit.
	MaxRequestBytes = 4 << 20
	// MaxDocumentBytes bounds a policy document; the built-in ones have under 32 KiB.
	MaxDocumentBytes = 256 << 10
	// MaxDepth bounds nesting in a request or document.
	MaxDepth = 32
	// MaxTextBytes bounds each text of a result. A longer one is sent as its
	// head and its tail, each of at most half of this.
	MaxTextBytes = 64 << 10
	// MaxLabelBytes bounds a call's label: enough for a command and its verb.
	MaxLabelBytes = 256
	// MaxStateBytes bounds the state.
	MaxStateBytes = 1 << 10
	// MaxErrorBytes bounds the last error that an outcome quotes.
	MaxErrorBytes = 1 << 10
	// MaxAttempts bounds the attempts of a call, whatever its policy says.
	MaxAttempts = 10_000
	// MaxRunAttempts is how many attempts one call of run makes before it gives
	// back Continue: Extism's JavaScript kernel never reuses a block within a
	// call, and died at 32,766 attempts.
	MaxRunAttempts = 500
	// HistoryEnds is how many attempts the history keeps at each end.
	HistoryEnds = 4
)

// Error codes of the envelope.
const (
	CodeBadRequest    = "bad_request"    // not the JSON that the contract describes
	CodeInvalidPolicy = "invalid_policy" // a document with faults; each is listed
	CodeUnknownPolicy = "unknown_policy" // neither a built-in's name nor a known digest
	CodeBadState      = "bad_state"      // damaged, out of bounds, or another policy's
	CodeHostFailed    = "host_failed"    // a host function gave no answer
	CodeInternal      = "internal"       // a fault of the plugin; throw the instance away
)
