package main

import (
	"outlast/abi"
	"outlast/host"
	"outlast/simulate"
)

// refusedBy is how the commands that we have policies for end where nothing
// listens, as they were seen to (commands/NAME/testdata has more of it).
var refusedBy = map[string]struct {
	exit   int64
	sent   abi.Sent
	stderr string
}{
	"omnigraph":  {1, "", refused},
	"witan-core": {1, "", refused},
	"curl":       {7, abi.SentNo, "curl: (7) Failed to connect to 127.0.0.1 port 8080 after 0 ms: Couldn't connect to server\n"},
	"psql":       {2, abi.SentNo, "psql: error: connection to server at \"127.0.0.1\", port 5432 failed: Connection refused\n\tIs the server running on that host and accepting TCP/IP connections?\n"},
	"redis-cli":  {1, abi.SentNo, "Could not connect to Redis at 127.0.0.1:6379: Connection refused\n"},
	"kubectl":    {1, "", "The connection to the server 127.0.0.1:8080 was refused - did you specify the right host or port?\n"},
	"ssh":        {255, "", "ssh: connect to host 127.0.0.1 port 22: Connection refused\r\n"},
	"git":        {128, "", "fatal: unable to access 'http://127.0.0.1:8080/r.git/': Failed to connect to 127.0.0.1 port 8080 after 0 ms: Couldn't connect to server\n"},
}

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
			err = usageError("the sample is a success: give a failure that the policy waits through")
		}
		return r, err
	}
	sample, known := refusedBy[p.Name()]
	if !known {
		sample = refusedBy["omnigraph"]
	}
	return abi.Result{ExitCode: &sample.exit, Sent: sample.sent, Stderr: abi.Clip(sample.stderr)}, nil
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
