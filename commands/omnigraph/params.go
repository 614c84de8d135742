package omnigraph

import (
	"encoding/json"
	"io"
	"os"
	"strings"

	"outlast/abi"
)

// maxParams is how much of a file of parameters is looked at, in bytes (a choice:
// far more than anybody types).
const maxParams = 1 << 20

// Params are what a command line gives for a query's parameters, and what is wrong
// with them. omnigraph reads them before it sends anything, and says of wrong ones
// what its JSON reader says, which is also what it says of an answer that it cannot
// read. The zero Params tells nothing.
type Params struct {
	file string
	text string
	bad  bool // plainly no JSON object
}

// Params reads them, the file too, so it is called before the first attempt.
func (inv Invocation) Params() Params {
	given := inv.params
	if inv.Verb != "mutate" || inv.Ambiguous || given.times != 1 {
		return Params{}
	}
	p := Params{text: given.value}
	if given.file {
		p.file = given.value
		text, ok := readParams(p.file)
		if !ok {
			return Params{}
		}
		p.text = text
	}
	var object map[string]any
	p.bad = json.Unmarshal([]byte(p.text), &object) != nil || object == nil
	return p
}

// Sent is what can be told of an attempt's request: abi.SentNo if the parameters
// are no JSON object, and the command ended as its JSON reader tells.
func (p Params) Sent(r *abi.Result) abi.Sent {
	if !p.bad || r.ExitCode == nil || *r.ExitCode != exitFailed || r.TimedOut || r.Stderr.Cut || !p.fits(r.Stderr.Head) {
		return abi.SentUnknown
	}
	if text, ok := readParams(p.file); p.file != "" && (!ok || text != p.text) {
		return abi.SentUnknown // nobody knows which of the two was read
	}
	return abi.SentNo
}

// exitFailed is omnigraph's exit code for a failure.
const exitFailed = 1

// fits says whether a report may be of these parameters: JSON of another kind than
// an object is told by its kind, the rest by where it goes wrong.
func (p Params) fits(report string) bool {
	if json.Valid([]byte(p.text)) {
		return strings.Contains(report, "invalid type: ") && strings.Contains(report, ", expected a map at line ")
	}
	return strings.Contains(report, " at line ") && strings.Contains(report, " column ")
}

// readParams is a file's text. Only one that can be read twice is read at all.
func readParams(path string) (text string, ok bool) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxParams {
		return "", false
	}
	f, err := os.Open(path)
	if err != nil {
		return "", false
	}
	defer f.Close()
	read, err := io.ReadAll(io.LimitReader(f, maxParams))
	return string(read), err == nil
}
