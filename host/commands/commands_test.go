package commands

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"outlast/abi"
)

// sure is what a test expects of a line.
type sure struct{ read, direct bool }

var (
	unsure     = sure{}
	reads      = sure{read: true}
	direct     = sure{direct: true}
	directRead = sure{true, true}
)

func parse(t *testing.T, line string, files ...string) sure {
	t.Helper()
	dir := t.TempDir()
	for _, name := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte("SELECT 1;\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	line = strings.ReplaceAll(line, "HOME", dir)
	noAccountHome(t)
	l := Parse(strings.Split(line, " "), []string{"HOME=" + dir})
	return sure{l.Read, l.Direct}
}

func TestCurl(t *testing.T) {
	for line, want := range map[string]sure{
		"curl http://h/": directRead,
		"/usr/bin/curl -sS --url http://h/ -o out":              directRead,
		"curl -fsSLo out https://h/":                            reads, // a redirect is another transfer
		"curl http://a/ http://b/":                              reads,
		"curl http://h/[1-9]":                                   reads,
		"curl -g http://[::1]/":                                 directRead,
		"curl -I HTTP://h/":                                     directRead,
		"curl -XGET http://h/":                                  directRead,
		"curl -X HEAD http://h/":                                directRead,
		"curl -X POST http://h/":                                direct,
		"curl -XDELETE http://h/":                               direct,
		"curl -X get http://h/":                                 direct, // methods have a case
		"curl -d a=1 http://h/":                                 direct,
		"curl -da=1 http://h/":                                  direct,
		"curl -G -d a=1 http://h/":                              directRead,
		"curl -G --json {} http://h/":                           direct,
		"curl --json {} http://h/":                              direct,
		"curl -T f http://h/":                                   unsure, // it asks the server to expect it
		"curl -H Expect: -T f http://h/":                        direct,
		"curl -H Expect: -T {f,g} http://h/":                    unsure,
		"curl -d @f http://h/":                                  unsure,
		"curl --data-raw @f http://h/":                          direct,
		"curl -d " + strings.Repeat("x", 2000) + " http://h/":   unsure,
		"curl -H Expect:100-continue -d a=1 http://h/":          unsure,
		"curl -H Expect: -H expect:100-continue -d a http://h/": unsure,
		"curl -H @headers -d a=1 http://h/":                     unsure,
		"curl -F a=b http://h/":                                 unsure,
		"curl --retry 3 -d a=1 http://h/":                       unsure,
		"curl --retry 3 http://h/":                              reads,
		"curl -K f http://h/":                                   unsure,
		"curl -d a=1 http://h/ --next http://h/":                unsure,
		"curl -Z http://h/":                                     unsure,
		"curl --anyauth -d a=1 http://h/":                       unsure,
		"curl --some-new-option http://h/":                      unsure,
		"curl h":                                                unsure,
		"curl ftp://h/":                                         unsure,
		"curl -sd":                                              unsure, // the value is missing
		"curl":                                                  unsure,
		"curl -o /dev/stderr http://h/":                         reads,
		"curl -o //dev/fd/2 http://h/":                          reads,
		"curl -so /dev/null http://h/":                          directRead,
		"psql -X -o /dev/null -c SELECT":                        direct,
		"curl -w %{stderr}x http://h/":                          reads,
		"curl -X POST -- http://h/":                             unsure,

		// HTTP/2 is offered by https, and by http if it is asked for.
		"curl https://h/":                                        reads,
		"curl -d a=1 https://h/":                                 unsure,
		"curl -d a=1 HTTPS://h/":                                 unsure,
		"curl -d a=1 --url https://h/":                           unsure,
		"curl -d a=1 -x http://proxy https://h/":                 unsure,
		"curl --http2 -d a=1 https://h/":                         unsure,
		"curl --http2 -d a=1 http://h/":                          unsure,
		"curl --http2-prior-knowledge -d a=1 http://h/":          unsure,
		"curl --http2-prior-knowledge https://h/":                reads,
		"curl --http3 -d a=1 https://h/":                         unsure,
		"curl --http3-only -d a=1 https://h/":                    unsure,
		"curl --http1.1 -d a=1 https://h/":                       direct,
		"curl -d a=1 https://h/ --http1.1":                       direct,
		"curl --http1.0 -d a=1 https://h/":                       direct,
		"curl -0d a=1 https://h/":                                direct,
		"curl -0 https://h/":                                     directRead,
		"curl --no-alpn -d a=1 https://h/":                       direct,
		"curl --no-alpn --alpn -d a=1 https://h/":                unsure,
		"curl --alpn --no-alpn -d a=1 https://h/":                direct,
		"curl --no-alpn --http2-prior-knowledge -d a https://h/": unsure,
		"curl --no-alpn --http2 -d a=1 https://h/":               unsure,
		"curl --http2 --http1.1 -d a=1 https://h/":               direct,
		"curl --http1.1 --http2 -d a=1 https://h/":               unsure,
		"curl -0 --http2-prior-knowledge -d a=1 http://h/":       unsure,
		"curl --http2-prior-knowledge -0 -d a=1 http://h/":       direct,
		"curl --http1.1 --alpn -d a=1 https://h/":                direct,
		"curl --alt-svc f -d a=1 http://h/":                      unsure,
		"curl --hsts f -d a=1 http://h/":                         unsure,
		"curl --proxy-http2 -x https://p -d a=1 http://h/":       unsure,
	} {
		if got := parse(t, line); got != want {
			t.Errorf("%.80s: %+v, want %+v", line, got, want)
		}
	}
	for _, rc := range []string{".curlrc", "_curlrc", ".config/curlrc", ".config/.curlrc"} {
		if got := parse(t, "curl http://h/", rc); got != unsure {
			t.Errorf("with %s: %+v", rc, got)
		}
		if got := parse(t, "curl -q http://h/", rc); got != directRead {
			t.Errorf("with %s and -q: %+v", rc, got)
		}
		if got := parse(t, "curl -s -q http://h/", rc); got != unsure {
			t.Errorf("with %s and a -q that is not the first: %+v", rc, got)
		}
	}
}

func TestPsql(t *testing.T) {
	for line, want := range map[string]sure{
		"psql -X -c SELECT":              direct,
		"psql -c SELECT":                 direct,
		"psql -Xqc SELECT db user":       direct,
		"psql --command=SELECT --host h": direct,
		"psql -l":                        direct,
		"psql -c SELECT -c \\warn":       unsure,
		"psql -c SELECT -v x=\\!":        unsure,
		"psql -c SELECT -o |sh":          unsure,
		"psql -c SELECT -o/dev/stderr":   unsure,
		"psql -c SELECT -L /proc/1/fd/2": unsure,
		"psql -f HOME/a.sql":             direct,
		"psql -f HOME/b.sql":             unsure, // not there
		"psql -f HOME":                   unsure,
		"psql -f -":                      unsure,
		"psql -c SELECT -f HOME/b.sql":   unsure,
		"psql -f /dev/null":              unsure,
		"psql":                           unsure,
		"psql db":                        unsure,
		"psql -s -c SELECT":              unsure,
		"psql --comm SELECT":             unsure,
		"psql -c":                        unsure,
	} {
		if got := parse(t, line, "a.sql"); got != want {
			t.Errorf("%s: %+v, want %+v", line, got, want)
		}
	}
	for _, rc := range []string{".psqlrc", ".psqlrc-15"} {
		if got := parse(t, "psql -c SELECT", rc); got != unsure {
			t.Errorf("with %s: %+v", rc, got)
		}
		if got := parse(t, "psql -X -c SELECT", rc); got != direct {
			t.Errorf("with %s and -X: %+v", rc, got)
		}
	}
	if l := Parse([]string{"psql", "-c", "SELECT"}, []string{"HOME=" + t.TempDir(), "PSQLRC=x"}); l.Direct {
		t.Error("PSQLRC names a file that psql runs")
	}
}

// A script with a backslash may have commands of psql's.
func TestScripts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.sql")
	for text, want := range map[string]bool{"": true, "SELECT 1;": true, "SELECT 1 \\g\n": false, "\\! x": false} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := isPlainSQL(path); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}

func TestRedis(t *testing.T) {
	for line, want := range map[string]sure{
		"redis-cli SET a b":               direct,
		"redis-cli GET a":                 directRead,
		"redis-cli -h h -p 1 -n 2 get a":  directRead,
		"redis-cli -u redis://h SET a -r": direct, // what follows the command is its own
		"redis-cli -e SET a b":            unsure,
		"redis-cli -e GET a":              reads,
		"redis-cli":                       unsure,
		"redis-cli -h h":                  unsure,
		"redis-cli -r 3 INCR a":           unsure,
		"redis-cli -c SET a b":            unsure,
		"redis-cli --pipe":                unsure,
		"redis-cli --eval a.lua":          unsure,
		"redis-cli --cluster check h":     unsure,
		"redis-cli GETDEL a":              direct,
		"redis-cli -x SET a":              direct,
		"redis-cli -p":                    unsure,
		"redis-cli -rSET":                 unsure,
	} {
		if got := parse(t, line); got != want {
			t.Errorf("%s: %+v, want %+v", line, got, want)
		}
	}
}

func TestKubectlAndGit(t *testing.T) {
	for line, want := range map[string]sure{
		"kubectl get pods":                            reads,
		"kubectl -n x --context=y get pods -o json":   reads,
		"kubectl -nx describe pod p":                  reads,
		"kubectl --insecure-skip-tls-verify=true get": reads,
		"kubectl logs p":                              reads,
		"kubectl apply -f x":                          unsure,
		"kubectl delete pod get":                      unsure,
		"kubectl -n get delete pod":                   unsure,
		"kubectl --unknown get pods":                  unsure,
		"kubectl exec p -- get":                       unsure,
		"kubectl -n":                                  unsure,
		"kubectl":                                     unsure,
		"git ls-remote http://h/r":                    reads,
		"git -C x fetch --depth 1 origin":             reads,
		"git --git-dir=x fetch -pq":                   reads,
		"git clone --branch=b http://h/r d":           reads,
		"git clone -j4 r":                             reads,
		"git push":                                    unsure,
		"git pull":                                    unsure,
		"git -c core.sshCommand=x fetch":              unsure,
		"git clone -u x r":                            unsure,
		"git clone -c a=b r":                          unsure,
		"git fetch --upload-pack=x":                   unsure,
		"git fetch --recurse-submodules":              unsure,
		"git clone ext::x":                            unsure,
		"git clone --template=x r":                    unsure, // a template brings hooks
		"git":                                         unsure,
		"git -C":                                      unsure,
		"ssh h true":                                  unsure,
		"ssh -N h":                                    unsure,
		"anything -c get":                             unsure,
		"":                                            unsure,
	} {
		if got := parse(t, line); got != want {
			t.Errorf("%s: %+v, want %+v", line, got, want)
		}
	}
	if l := Parse(nil, nil); l.Read || l.Direct {
		t.Error("no command at all is something")
	}
}

// A result says that nothing was sent only by the command's own sign of it, and
// only of a line that is direct.
func TestSent(t *testing.T) {
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
