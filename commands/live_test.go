package commands_test

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"outlast/abi"
	"outlast/commands"
)

// The commands that are installed here, against a port where nobody listens and
// a name that does not resolve: other versions than the captures' must say what
// the policies know.
func TestInstalledCommands(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	l.Close()
	_, err = net.LookupHost("nosuch.invalid")
	resolves := err == nil
	for _, c := range []struct {
		line string
		kind string
		sent abi.Sent
	}{
		{"curl -sS -d a=1 http://127.0.0.1:PORT/", "unavailable", abi.SentNo},
		{"curl -sS -L -d a=1 http://127.0.0.1:PORT/", "unavailable", abi.SentUnknown},
		{"curl -sS -d a=1 https://127.0.0.1:PORT/", "unavailable", abi.SentUnknown},
		{"curl -sS --http1.1 -d a=1 https://127.0.0.1:PORT/", "unavailable", abi.SentNo},
		{"curl -d a=1 http://127.0.0.1:PORT/", "unavailable", abi.SentNo},
		{"curl -s -d a=1 http://127.0.0.1:PORT/", "unavailable", abi.SentUnknown},
		{"curl -sS -d a=1 http://nosuch.invalid/", "unresolved", abi.SentNo},
		{"psql -X -h 127.0.0.1 -p PORT -c SELECT", "unavailable", abi.SentNo},
		{"psql -X -h nosuch.invalid -c SELECT", "unresolved", abi.SentNo},
		{"redis-cli -p PORT SET a b", "unavailable", abi.SentNo},
		{"redis-cli -h nosuch.invalid SET a b", "unresolved", abi.SentNo},
		{"kubectl -s http://127.0.0.1:PORT get configmaps", "unavailable", abi.SentUnknown},
		{"kubectl -s http://127.0.0.1:PORT version", "unavailable", abi.SentUnknown},
		{"kubectl -s http://nosuch.invalid version", "unresolved", abi.SentUnknown},
		{"ssh -F none -p PORT 127.0.0.1 true", "unavailable", abi.SentUnknown},
		{"ssh -F none nosuch.invalid true", "unresolved", abi.SentUnknown},
		{"git ls-remote http://127.0.0.1:PORT/r", "unavailable", abi.SentUnknown},
		{"git clone http://127.0.0.1:PORT/r", "unavailable", abi.SentUnknown},
		{"git ls-remote http://nosuch.invalid/r", "unresolved", abi.SentUnknown},
	} {
		t.Run(c.line, func(t *testing.T) {
			if c.kind == "unresolved" && resolves {
				t.Skip("here even nosuch.invalid resolves")
			}
			argv := strings.Fields(strings.ReplaceAll(c.line, "PORT", port))
			env := home(t, nil)
			result := run(t, argv, env)
			line := commands.Parse(argv, env)
			result.Sent = line.Sent(&result)
			if result.Sent != c.sent {
				t.Errorf("sent %s, want %s: %q", result.Sent, c.sent, result.Stderr.Head)
			}
			name := commands.For(argv[0])
			if got := decide(t, name, false, result); got.Kind != c.kind || got.Action != abi.Retry {
				t.Errorf("a read is %+v: %q", got, result.Stderr.Head)
			}
			want := verdict{c.kind, abi.Retry, ""}
			if c.sent != abi.SentNo {
				want = verdict{c.kind, abi.Stop, abi.EffectsUnknown}
			}
			if got := decide(t, name, true, result); got != want {
				t.Errorf("a write is %+v: %q", got, result.Stderr.Head)
			}
		})
	}
}

// run runs a command in English; it skips the test if it is not installed.
func run(t *testing.T, argv, env []string) abi.Result {
	t.Helper()
	if _, err := exec.LookPath(argv[0]); err != nil {
		t.Skipf("%s is not installed", argv[0])
	}
	var stdout, stderr strings.Builder
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(append(os.Environ(), "LC_ALL=C"), env...)
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &stdout, &stderr, 30*time.Second
	err := cmd.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		t.Fatalf("%v: %v: it should have failed: %q", argv, err, stdout.String())
	}
	code := int64(exit.ExitCode())
	return abi.Result{ExitCode: &code, Stdout: abi.Clip(stdout.String()), Stderr: abi.Clip(stderr.String())}
}
