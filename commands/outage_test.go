package commands_test

import (
	"context"
	"testing"
	"time"

	"outlast/abi"
	"outlast/commands"
	"outlast/host"
	"outlast/host/virtual"
)

// A write of each command that can prove that nothing was sent rides out an
// outage with the real plugin; the same write by a line that proves nothing
// stops at once.
func TestAnOutage(t *testing.T) {
	ctx := context.Background()
	plugin, err := host.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer plugin.Close(ctx)
	const refused = "curl: (7) Failed to connect to h port 1 after 0 ms: Couldn't connect to server\n"
	for _, c := range []struct {
		argv   []string
		exit   int64
		stderr string
		rides  bool
	}{
		{[]string{"curl", "-d", "a=1", "http://h/"}, 7, refused, true},
		{[]string{"curl", "-d", "a=1", "--http1.1", "https://h/"}, 7, refused, true},
		{[]string{"curl", "-d", "a=1", "https://h/"}, 7, refused, false},
		{[]string{"curl", "-L", "-d", "a=1", "http://h/"}, 7, refused, false},
		{[]string{"curl", "-s", "-d", "a=1", "http://h/"}, 7, "", false},
		{[]string{"psql", "-X", "-c", "INSERT"}, 2, `psql: error: connection to server at "h", port 1 failed: FATAL:  the database system is starting up`, true},
		{[]string{"psql", "-X"}, 2, `psql: error: connection to server at "h", port 1 failed: FATAL:  the database system is starting up`, false},
		{[]string{"redis-cli", "SET", "a", "b"}, 1, "Could not connect to Redis at h:1: Connection refused\n", true},
		{[]string{"redis-cli", "-r", "2", "SET", "a", "b"}, 1, "Could not connect to Redis at h:1: Connection refused\n", false},
		{[]string{"curl", "-fsS", "http://h/"}, 22, "curl: (22) The requested URL returned error: 503\n", true},
		{[]string{"curl", "-fsS", "-d", "a=1", "http://h/"}, 22, "curl: (22) The requested URL returned error: 503\n", false},
		{[]string{"kubectl", "get", "pods"}, 1, "Error from server (ServiceUnavailable): the server is currently unable to handle the request\n", true},
		{[]string{"kubectl", "apply", "-f", "x"}, 1, "Error from server (ServiceUnavailable): the server is currently unable to handle the request\n", false},
		{[]string{"git", "ls-remote", "http://h/r"}, 128, "fatal: unable to access 'http://h/r/': The requested URL returned error: 502\n", true},
		{[]string{"psql", "-X", "-c", "INSERT"}, 2, `psql: error: connection to server at "h", port 1 failed: FATAL:  sorry, too many clients already`, true},
		{[]string{"psql", "-X", "-c", "INSERT"}, 2, "FATAL:  query_wait_timeout\nserver closed the connection unexpectedly\nconnection to server was lost\n", false},
		{[]string{"ssh", "h", "true"}, 255, "ssh: connect to host h port 22: Connection refused\r\n", false},
		{[]string{"git", "push"}, 128, "ssh: connect to host h port 22: Connection refused\r\n", false},
		{[]string{"kubectl", "apply"}, 1, "The connection to the server h was refused - did you specify the right host or port?\n", false},
	} {
		name := commands.For(c.argv[0])
		p, err := host.ParsePolicy(commands.Policy(name))
		if err != nil {
			t.Fatal(err)
		}
		line := commands.Parse(c.argv, home(t, nil))
		clock, seed, attempts := &virtual.Clock{}, int64(1), 0
		outcome, err := plugin.Run(ctx, &host.Task{
			Policy: p, Clock: clock,
			Call: host.Call{Label: name, Remote: true, Read: line.Read, Seed: &seed},
			Attempt: func(context.Context, int64) (abi.Result, error) {
				attempts++
				if clock.Now() >= time.Minute {
					return abi.Result{ExitCode: new(int64)}, nil
				}
				r := abi.Result{ExitCode: &c.exit, Stderr: abi.Clip(c.stderr)}
				r.Sent = line.Sent(&r)
				return r, nil
			},
		})
		switch {
		case outcome == nil:
			t.Fatal(err)
		case c.rides && (outcome.Type != abi.OutcomeOK || attempts < 3):
			t.Errorf("%v: %s after %d attempts", c.argv, outcome.Message, attempts)
		case !c.rides && (outcome.Type != abi.OutcomeIndeterminate || attempts != 1):
			t.Errorf("%v: %s, %d attempts", c.argv, outcome.Message, attempts)
		}
	}
}
