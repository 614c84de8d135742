package host_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"outlast/abi"
	"outlast/host"
	"outlast/host/virtual"
)

// compiled is shared by the tests: compiling the plugin takes a second or more.
// linked decides by the code that is linked.
var compiled, linked *host.Plugin

func TestMain(m *testing.M) {
	var err error
	if compiled, err = host.Open(host.WithCompiler()); err != nil {
		panic(err)
	}
	if linked, err = host.Open(); err != nil {
		panic(err)
	}
	code := m.Run()
	linked.Close(context.Background())
	compiled.Close(context.Background())
	if code == 0 {
		if err := goleak.Find(); err != nil {
			println(err.Error())
			code = 1
		}
	}
	os.Exit(code)
}

// door is one of the ways to carry out a task.
type door struct {
	name string
	run  run
}

type run = func(*host.Plugin, context.Context, *host.Task) (*abi.Outcome, error)

var runs = map[string]run{"Run": (*host.Plugin).Run, "RunInPlugin": (*host.Plugin).RunInPlugin}

var doors = []door{
	{"Run", outcomeOf(runs["Run"])}, {"RunInPlugin", outcomeOf(runs["RunInPlugin"])},
	{"linked", outcomeOf(func(p *host.Plugin, ctx context.Context, t *host.Task) (*abi.Outcome, error) {
		if p == compiled { // one of a test's own is what is tested
			p = linked
		}
		return p.Run(ctx, t)
	})},
}

// outcomeOf is a door whose error says only why there is no outcome. Each call
// through it shows that an outcome is an error too, unless it is ok.
func outcomeOf(run run) run {
	return func(p *host.Plugin, ctx context.Context, t *host.Task) (*abi.Outcome, error) {
		outcome, err := run(p, ctx, t)
		var failed *host.CallError
		switch {
		case outcome == nil:
			return nil, err
		case (err == nil) != (outcome.Type == abi.OutcomeOK), err != nil && (!errors.As(err, &failed) || failed.Outcome != outcome):
			panic(fmt.Sprintf("%s comes with %v", outcome.Encode(), err))
		}
		return outcome, nil
	}
}

// omnigraph is the policy of the command whose results the tests make up.
var omnigraph = must(host.BuiltIn("omnigraph"))

// throughAll runs a test through all doors.
func throughAll(t *testing.T, test func(t *testing.T, d door)) {
	for _, d := range doors {
		t.Run(d.name, func(t *testing.T) { test(t, d) })
	}
}

const refusedReport = `Error: 
   0: error sending request for url (http://127.0.0.1:8080/graphs/people/query)
   1: client error (Connect)
   2: tcp connect error
   3: Connection refused (os error 111)

Location:
   crates/omnigraph-cli/src/client.rs:679
`

func refused() abi.Result { return exited(1, refusedReport) }

func exited(code int64, stderr string) abi.Result {
	return abi.Result{ExitCode: &code, Stderr: abi.Clip(stderr)}
}

func succeeded() abi.Result { return exited(0, "") }

func reportOf(cause string) abi.Result {
	return exited(1, "Error: \n   0: "+cause+"\n\nLocation:\n")
}

// outageTask is a task whose server is away from the start until the outage is
// over. Each attempt takes as long as it is told, and starts are recorded.
func outageTask(clock *virtual.Clock, outage, takes time.Duration) (*host.Task, *[]time.Duration) {
	var starts []time.Duration
	return &host.Task{
		Policy: omnigraph,
		Call:   host.Call{Label: "query", Remote: true, Seed: new(int64), Read: true},
		Clock:  clock,
		Attempt: func(context.Context, int64) (abi.Result, error) {
			starts = append(starts, clock.Now())
			up := clock.Now() >= outage
			clock.Advance(takes)
			if up {
				return succeeded(), nil
			}
			return refused(), nil
		},
	}, &starts
}

func mustPolicy(t *testing.T, text string) *host.Policy {
	t.Helper()
	p, err := host.ParsePolicy(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
