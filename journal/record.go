package journal

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"outlast/internal/redact"
)

// version is the format's. A file of a newer one is refused.
const version = 1

// record is one line of a file.
type record struct {
	Record string `json:"record"` // run, attempt, ended, outcome, settled
	Time   string `json:"time"`   // UTC, RFC 3339

	// Of a run.
	V              int      `json:"v,omitempty"`
	Key            string   `json:"key,omitempty"`
	Command        string   `json:"command,omitempty"`
	Argv           []string `json:"argv,omitempty"`
	Line           string   `json:"line,omitempty"` // the whole command line's digest
	Dir            string   `json:"dir,omitempty"`
	Target         string   `json:"target,omitempty"`
	IdempotencyKey string   `json:"idempotency_key,omitempty"`
	PID            int      `json:"pid,omitempty"`
	Host           string   `json:"host,omitempty"`
	Boot           string   `json:"boot,omitempty"`    // which start of the machine
	BootUS         int64    `json:"boot_us,omitempty"` // microseconds since then

	// Of an attempt, its end and an outcome.
	Attempt  int64   `json:"attempt,omitempty"`
	Effects  string  `json:"effects,omitempty"` // none, unknown
	ExitCode *int64  `json:"exit_code,omitempty"`
	Signal   string  `json:"signal,omitempty"`
	Outcome  string  `json:"outcome,omitempty"`
	Stdout   *output `json:"stdout,omitempty"`
	Stderr   *output `json:"stderr,omitempty"`

	// Of a settlement.
	Applied *bool  `json:"applied,omitempty"`
	By      string `json:"by,omitempty"`
}

// The kinds of record, and what is said of effects.
const (
	aRun      = "run"
	anAttempt = "attempt"
	anEnd     = "ended"
	anOutcome = "outcome"
	aVerdict  = "settled"

	effectsNone    = "none"
	effectsUnknown = "unknown"
	outcomeOK      = "ok"
)

// output is what a run printed: text if it is UTF-8.
type output struct {
	Text   string `json:"text,omitempty"`
	Base64 string `json:"base64,omitempty"`
	Cut    bool   `json:"cut,omitempty"` // it was longer
}

func (o *Options) output(b []byte, cut bool) *output {
	if len(b) > MaxOutput {
		b, cut = b[:MaxOutput], true
	}
	text := redact.Secrets(string(b), o.Secrets)
	if cut { // half a secret at the cut would not be found
		for _, secret := range o.Secrets {
			if n := len(secret) - 1; n > 0 && len(text) > 0 {
				text = text[:max(0, min(len(text), len(b)-n))]
			}
		}
	}
	switch {
	case text == "" && !cut:
		return nil
	case utf8.ValidString(text):
		return &output{Text: text, Cut: cut}
	}
	return &output{Base64: base64.StdEncoding.EncodeToString([]byte(text)), Cut: cut}
}

func (o *output) bytes() []byte {
	if o == nil {
		return nil
	}
	if o.Base64 != "" {
		b, _ := base64.StdEncoding.DecodeString(o.Base64) // checked by valid
		return b
	}
	return []byte(o.Text)
}

func (o *output) valid() bool {
	if o == nil {
		return true
	}
	_, err := base64.StdEncoding.DecodeString(o.Base64)
	return err == nil
}

// lines are records as the file has them.
func lines(records ...record) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	for i := range records {
		if err := encoder.Encode(&records[i]); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// parse reads a file. Its last line may be torn, by a power loss or a full disk:
// it had not been fsynced, so nothing was done because of it, and good is where it
// begins. Anything else that is no record is damage.
func parse(text []byte) (records []record, good int, err error) {
	for good < len(text) {
		end := bytes.IndexByte(text[good:], '\n')
		if end < 0 {
			return records, good, nil
		}
		var r record
		if fault := read(text[good:good+end], &r, len(records) == 0); fault != nil {
			return records, good, fmt.Errorf("line %d: %w", len(records)+1, fault)
		}
		records, good = append(records, r), good+end+1
	}
	return records, good, nil
}

func read(line []byte, r *record, first bool) error {
	if err := json.Unmarshal(line, r); err != nil {
		return fmt.Errorf("it is no record: %w", err)
	}
	switch {
	case r.V > version:
		return fmt.Errorf("it is of format %d, and this release knows %d", r.V, version)
	case first && r.Record != aRun:
		return fmt.Errorf("expected the record of a run, not %q", r.Record)
	case !r.Stdout.valid() || !r.Stderr.valid():
		return fmt.Errorf("an output's base64 cannot be read")
	}
	switch r.Record {
	case aRun:
		if r.V < 1 {
			return fmt.Errorf("a run without its format's version")
		}
	case anAttempt, anEnd, anOutcome:
	case aVerdict:
		if r.Applied == nil {
			return fmt.Errorf(`expected "applied"`)
		}
	default:
		return fmt.Errorf("there is no kind of record %q", r.Record)
	}
	return nil
}
