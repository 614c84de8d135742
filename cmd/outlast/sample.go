package main

import (
	"os"
	"strings"

	"outlast/abi"
	"outlast/cmd/outlast/internal/exit"
)

// sampleFlags describe how an attempt ended.
type sampleFlags struct {
	Exit       *int64 `placeholder:"CODE" help:"The command's exit code."`
	Signal     string `placeholder:"NAME" help:"The signal that ended it, such as SIGKILL."`
	StdoutFile string `type:"existingfile" placeholder:"FILE" help:"What it printed on stdout."`
	StderrFile string `type:"existingfile" placeholder:"FILE" help:"What it printed on stderr."`
	Sent       string `enum:",no,unknown,yes" default:"" placeholder:"no|unknown|yes" help:"Whether anything of the call was sent, as a host may know. A policy for a command repeats a write only after no."`
	HTTPStatus *int64 `name:"http-status" placeholder:"STATUS" help:"The status, of an HTTP exchange."`
	HTTPFile   string `name:"http-file" type:"existingfile" placeholder:"FILE" help:"Its message."`
}

func (f *sampleFlags) given() bool { return *f != sampleFlags{} }

// result is what the flags describe.
func (f *sampleFlags) result() (abi.Result, error) {
	r := abi.Result{ExitCode: f.Exit, Signal: f.Signal, HTTPStatus: f.HTTPStatus, Sent: abi.Sent(f.Sent)}
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
	isHTTP := r.HTTPStatus != nil || f.HTTPFile != ""
	if isHTTP && (r.IsProcess() || f.StdoutFile != "" || f.StderrFile != "") {
		return r, exit.Usage("--http-status and --http-file describe an HTTP exchange, the others a command: give one or the other")
	}
	if r.ExitCode == nil && r.Signal == "" && !isHTTP {
		one := int64(1)
		r.ExitCode = &one
	}
	return r, nil
}
