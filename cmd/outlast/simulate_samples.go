package main

import (
	"outlast/abi"
	"outlast/cmd/outlast/internal/exit"
	"outlast/commands"
	"outlast/host"
	"outlast/simulate"
)

// full and brokenOff are what omnigraph prints when its server is at its
// admission cap, and when it goes away in the midst of a call.
const (
	full = `Error:
   0: actor in-flight count cap 1 exceeded

Location:
`
	brokenOff = `Error:
   0: error sending request for url (http://127.0.0.1:8080/graphs/g/query)
   1: client error (SendRequest)
   2: connection closed before message completed

Location:
`
)

// failure is what the flags describe; without any, a refused connection as the
// policy's own command prints it, or else omnigraph.
func (f *sampleFlags) failure(p *host.Policy) (abi.Result, error) {
	if f.given() {
		r, err := f.result()
		if err == nil && r.OK() {
			err = exit.Usage("the sample is a success: give a failure that the policy waits through")
		}
		return r, err
	}
	sample, known := commands.Sample(p.Name())
	if !known {
		sample, _ = commands.Sample("omnigraph")
	}
	return sample, nil
}

// results are all failures of a simulation.
func (f *sampleFlags) results(p *host.Policy) (simulate.Results, error) {
	down, err := f.failure(p)
	one := int64(1)
	return simulate.Results{
		Down:   down,
		Busy:   abi.Result{ExitCode: &one, Stderr: abi.Clip(full)},
		Broken: abi.Result{ExitCode: &one, Stderr: abi.Clip(brokenOff)},
	}, err
}
