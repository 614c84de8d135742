package commands

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"outlast/abi"
	"outlast/commands/internal/linetest"
)

// A folder whose package has a Command is known by the folder's name.
func TestFolders(t *testing.T) {
	folders, err := filepath.Glob("*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, file := range folders {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nvar Command = line.Command{") {
			found[filepath.Dir(file)] = true
		}
	}
	for name := range found {
		if _, ok := known[name]; !ok {
			t.Errorf("commands/%s is not in known", name)
		}
	}
	if len(found) != len(known) {
		t.Errorf("of %d commands that are known, folders have %d", len(known), len(found))
	}
}

func TestOtherCommands(t *testing.T) {
	for _, line := range []string{"ssh h true", "ssh -N h", "anything -c get", "", "omnigraph read"} {
		if got := linetest.Of(Parse(strings.Split(line, " "), nil)); got != linetest.Unsure {
			t.Errorf("%s: %+v", line, got)
		}
	}
	if got := linetest.Of(Parse(nil, nil)); got != linetest.Unsure {
		t.Error("no command at all is something")
	}
}

// A result says that nothing was sent only by the command's own sign of it, and
// only of a line that is direct.
func TestSent(t *testing.T) {
	linetest.AccountAt(t, "", true)
	code := func(n int64) *int64 { return &n }
	refusedSQL := `psql: error: connection to server at "h" (127.0.0.1), port 1 failed: Connection refused`
	for _, c := range []struct {
		line   string
		exit   int64
		stderr string
		want   abi.Sent
	}{
		{"curl http://h/", 7, "curl: (7) Failed to connect to h port 80 after 0 ms: Couldn't connect to server\n", abi.SentNo},
		{"curl http://h/", 7, "  % Total\n\r  0\r  0\ncurl: (7) Failed to connect to h port 80\n", abi.SentNo},
		{"curl -v http://h/", 7, "*   Trying ::1:80...\n* Failed\ncurl: (7) Failed to connect to h port 80\n", abi.SentNo},
		{"curl -s http://h/", 7, "", abi.SentUnknown}, // nothing says so but the code
		{"curl http://h/", 7, "curl: (7) Empty reply from server\n", abi.SentUnknown},
		{"curl http://h/", 7, "  % Total\ncurl: (7) Empty reply from server\n", abi.SentUnknown},
		{"curl http://h/", 7, "curl: (7) Empty reply from server\ncurl: (7) Failed to connect to h\n", abi.SentUnknown},
		{"curl http://h/", 7, "x curl: (7) Failed to connect to h\n", abi.SentUnknown},
		{"curl http://h/", 7, "curl: (6) Could not resolve host: h\n", abi.SentUnknown},
		{"curl -d a https://h/", 7, "curl: (7) Failed to connect to h port 443\n", abi.SentUnknown},
		{"curl --http1.1 -d a https://h/", 7, "curl: (7) Failed to connect to h port 443\n", abi.SentNo},
		{"curl http://h/", 6, "curl: (6) Could not resolve host: h\n", abi.SentNo},
		{"curl http://h/", 6, "", abi.SentUnknown},
		{"curl http://h/", 5, "curl: (5) Could not resolve proxy: p\n", abi.SentNo},
		{"curl http://h/", 5, "curl: (6) Could not resolve host: h\n", abi.SentUnknown},
		{"curl http://h/", 22, "curl: (7) Failed to connect to h\n", abi.SentUnknown},
		{"curl http://h/", 28, "curl: (28) Connection timed out after 1 ms\n", abi.SentNo},
		{"curl http://h/", 28, "curl: (28) Operation timed out after 1 ms\n", abi.SentUnknown},
		{"curl http://h/", 28, "x\ncurl: (28) Connection timed out after 1 ms\n", abi.SentUnknown},
		{"curl -L http://h/", 7, "", abi.SentUnknown},
		{"psql -X -c SELECT", 2, refusedSQL, abi.SentNo},
		{"psql -X -c SELECT", 1, refusedSQL, abi.SentUnknown},
		{"psql -X -c SELECT", 2, "NOTICE:  " + refusedSQL, abi.SentUnknown},
		{"psql -X -c SELECT", 2, "NOTICE:  x\n" + refusedSQL, abi.SentUnknown},
		{"psql -X -c SELECT", 2, "psql: error: connection to server was lost\n", abi.SentUnknown},
		{"psql", 2, refusedSQL, abi.SentUnknown},
		{"redis-cli SET a b", 1, "Could not connect to Redis at h:1: Connection refused\n", abi.SentNo},
		{"redis-cli SET a b", 0, "Could not connect to Redis at h:1: Connection refused\n", abi.SentUnknown},
		{"redis-cli SET a b", 1, "ERR Could not connect to Redis at h:1\n", abi.SentUnknown},
		{"kubectl get pods", 1, "The connection to the server h was refused\n", abi.SentUnknown},
		{"ssh h true", 255, "ssh: connect to host h port 22: Connection refused\n", abi.SentUnknown},
	} {
		l := Parse(strings.Split(c.line, " "), []string{"HOME=" + t.TempDir()})
		if got := l.Sent(&abi.Result{ExitCode: code(c.exit), Stderr: abi.Clip(c.stderr)}); got != c.want {
			t.Errorf("%s, exit code %d, %q: %s, want %s", c.line, c.exit, c.stderr, got, c.want)
		}
		for _, ended := range []abi.Result{
			{Signal: "SIGKILL", Stderr: abi.Clip(c.stderr)},
			{ExitCode: code(c.exit), TimedOut: true, Stderr: abi.Clip(c.stderr)},
			{HTTPStatus: code(503), Message: abi.Clip(c.stderr)},
		} {
			if got := l.Sent(&ended); got != abi.SentUnknown {
				t.Errorf("%s, ended otherwise: %s", c.line, got)
			}
		}
	}
}
