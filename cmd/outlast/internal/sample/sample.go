// Package sample has what a policy is tried with: failures and outages.
package sample

import (
	"cmp"
	"os"
	"strings"

	"outlast/abi"
	"outlast/cmd/outlast/internal/exit"
	"outlast/commands"
	"outlast/host"
)

// Flags describe how an attempt ended.
type Flags struct {
	Exit       *int64 `placeholder:"CODE" help:"The command's exit code."`
	Signal     string `placeholder:"NAME" help:"The signal that ended it, such as SIGKILL."`
	StdoutFile string `type:"existingfile" placeholder:"FILE" help:"What it printed on stdout."`
	StderrFile string `type:"existingfile" placeholder:"FILE" help:"What it printed on stderr."`
	Sent       string `enum:",no,unknown,yes" default:"" placeholder:"no|unknown|yes" help:"Whether anything was sent. The bundled policies (curl, psql …) repeat a write only if this is no."`
	HTTPStatus *int64 `name:"http-status" placeholder:"STATUS" help:"The status, of an HTTP exchange."`
	HTTPFile   string `name:"http-file" type:"existingfile" placeholder:"FILE" help:"Its message."`
	Failure    string `enum:",unresolved,unconnected,untrusted,broke,stale,cut,malformed" default:"" placeholder:"WORD" help:"What a program saw of its request: unresolved, unconnected, untrusted, broke, stale, cut or malformed."`
	Only       bool   `name:"only-request" help:"The attempt made this one request."`
}

// describes says whether the flags say how the attempt ended, and not only what is
// known of its requests.
func (f *Flags) describes() bool {
	ended := *f
	ended.Sent, ended.Only = "", false
	return ended != Flags{}
}

// Result is what the flags describe.
func (f *Flags) Result() (abi.Result, error) {
	r := abi.Result{ExitCode: f.Exit, Signal: f.Signal, HTTPStatus: f.HTTPStatus, Sent: abi.Sent(f.Sent), Failure: abi.Failure(f.Failure), OnlyRequest: f.Only}
	for _, part := range []struct {
		path string
		text *abi.Text
	}{{f.StdoutFile, &r.Stdout}, {f.StderrFile, &r.Stderr}, {f.HTTPFile, &r.Message}} {
		if part.path == "" {
			continue
		}
		text, err := os.ReadFile(part.path)
		if err != nil {
			return r, exit.Usage("%v", err)
		}
		*part.text = abi.Clip(string(text))
	}
	if r.Signal != "" && (!strings.HasPrefix(r.Signal, "SIG") || r.ExitCode != nil) {
		return r, exit.Usage("--signal: expected a name such as SIGKILL, and no --exit beside it, not %s", r.Signal)
	}
	isHTTP := r.HTTPStatus != nil || f.HTTPFile != "" || f.Failure != ""
	if isHTTP && (r.IsProcess() || f.StdoutFile != "" || f.StderrFile != "") {
		return r, exit.Usage("--http-status, --http-file and --failure describe an HTTP exchange, the others a command: give one or the other")
	}
	if r.ExitCode == nil && r.Signal == "" && !isHTTP {
		one := int64(1)
		r.ExitCode = &one
	}
	return r, nil
}

// OrRefused is what the flags describe; where they do not say how the attempt ended, a
// refused connection as the policy's own command prints it, or else omnigraph.
func (f *Flags) OrRefused(p *host.Policy) (abi.Result, error) {
	if !f.describes() {
		r := Of(p, commands.Refused)
		r.Sent = cmp.Or(abi.Sent(f.Sent), r.Sent)
		r.OnlyRequest = r.OnlyRequest || f.Only
		return r, nil
	}
	r, err := f.Result()
	if err == nil && r.OK() {
		err = exit.Usage("the sample is a success: give a failure that the policy waits through")
	}
	return r, err
}

// Of is how the policy's own command ends, or else omnigraph; for a policy for
// functions, what is seen of a request.
func Of(p *host.Policy, what commands.Ending) abi.Result {
	if p.ForRequests() {
		return requests[what]
	}
	r, known := commands.Sample(p.Name(), what)
	if !known {
		r, _ = commands.Sample("omnigraph", what)
	}
	return r
}

var requests = map[commands.Ending]abi.Result{
	commands.Refused: {Failure: abi.FailureUnconnected, Sent: abi.SentNo, OnlyRequest: true},
	commands.Full:    {HTTPStatus: new(int64(429)), Sent: abi.SentYes, OnlyRequest: true},
	commands.Broken:  {Failure: abi.FailureBroke, Sent: abi.SentYes, OnlyRequest: true},
}
