//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// unreachable is what each bundled command says of a server to which it cannot
// connect, and a call of it that reads by its own line, if there is one.
var unreachable = []struct {
	name, read string
	exit       int
	says       string
}{
	{"omnigraph", "query all --server http://127.0.0.1:1", 1, "Error: \n   0: error sending request for url (http://h)\n   1: client error (Connect)\n   2: tcp connect error\n\nLocation:\n"},
	{"curl", "-sSG http://127.0.0.1:1/ -d", 7, "curl: (7) Failed to connect to h port 1 after 0 ms: Couldn't connect to server\n"},
	{"psql", "", 2, "psql: error: connection to server at \"h\", port 1 failed: Connection refused\n"},
	{"redis-cli", "", 1, "Could not connect to Redis at h:1: Connection refused\n"},
	{"kubectl", "get pods -f", 1, "The connection to the server h was refused - did you specify the right host or port?\n"},
	{"ssh", "", 255, "ssh: connect to host h port 22: Connection refused\n"},
	{"git", "", 128, "fatal: unable to access 'http://h/': Failed to connect to h port 1 after 0 ms: Couldn't connect to server\n"},
}

// ways are those in which a command's input can come, as bash has them: what
// stands for the command's last word, before and behind the whole. once: there is
// one attempt, for this reason.
var ways = []struct{ name, before, word, behind, once string }{
	{"a pipe", "cat in |", "-", "", ""},
	{"a slow pipe", "(head -c 5000 in; sleep 0.2; tail -c +5001 in) |", "-", "", ""},
	{"a pipe by name", "cat in |", "@/dev/stdin", "", ""},
	{"a file on stdin", "", "-", "<in", ""},
	{"a file on stdin by name", "", "--data=@/dev/stdin", "<in", ""},
	{"a here-document", "", "-", "<<X\n$(cat in)\nX\n", ""},
	{"a here-string", "", "-", `<<<"$(cat in)"`, ""},
	{"@file", "", "@in", "", ""},
	{"--data=file", "", "--data=in", "", ""},
	{"<(…)", "", "<(cat in)", "", ""},
	{"@<(…)", "", "@<(cat in)", "", ""},
	{"--data=<(…)", "", "--data=<(cat in)", "", ""},
	{"=@/dev/fd/5;…", "", "'file=@/dev/fd/5;type=x'", "5< <(cat in)", ""},
	{"/proc/self/fd/5", "", "/proc/self/fd/5", "5< <(cat in)", ""},
	{"a file from 3 up", "", "@/dev/fd/5", "5<in", ""},
	{"a FIFO", "cat in >fifo &", "fifo", "", "is a named pipe"},
	{"@FIFO", "cat in >fifo &", "@fifo", "", "is a named pipe"},
	{"--data=FIFO", "cat in >fifo &", `--data="$PWD/fifo"`, "", "is a named pipe"},
	{"a FIFO on stdin", "cat in >fifo &", "-", "<fifo", ""},
}

// reader is a command that reads all that its last word names, notes it, and
// cannot connect at first.
const reader = `#!/bin/bash
for word; do :; done
f=${word%%;*}; f=${f##*[@=]}
n=$(ls got.* 2>/dev/null | wc -l)
if [ "$f" = - ]; then cat; else cat <"$f"; fi >got.$n
[ $n -gt 0 ] && exit 0
cat says >&2
exit $(cat exit)
`

// Whatever the command and however its input comes, each attempt reads the same
// bytes, or there is one attempt, and it is told why; behind a link, too, where
// nothing is told.
func TestEachAttemptReadsTheSame(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil || runtime.GOOS != "linux" {
		t.Skip("needs bash, and Linux, where all of these can be given again")
	}
	root := t.TempDir()
	tool := goBuild(t, filepath.Join(t.TempDir(), "outlast"), ".")
	for _, c := range unreachable {
		for _, way := range ways {
			for _, linked := range []bool{false, true} {
				if linked && (c.read == "" || !strings.ContainsAny(way.name, "@<")) {
					continue // a link has no flags, so it must be a read by its line
				}
				t.Run(fmt.Sprintf("%s/%s/linked=%t", c.name, way.name, linked), func(t *testing.T) {
					t.Parallel()
					dir, err := os.MkdirTemp(root, "x") // whose name has nothing that a path could stand behind
					if err != nil {
						t.Fatal(err)
					}
					whole := strings.Repeat("0123456789\n", 1000)
					for name, text := range map[string]string{"in": whole, "says": c.says, "exit": fmt.Sprint(c.exit), "real/" + c.name: reader} {
						os.MkdirAll(filepath.Join(dir, "real"), 0o700)
						if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
							t.Fatal(err)
						}
					}
					call := "outlast run --read --max-wait 100ms -- " + c.name + " " + c.read
					if linked {
						os.Mkdir(filepath.Join(dir, "link"), 0o700)
						if err := os.Symlink(tool, filepath.Join(dir, "link", c.name)); err != nil {
							t.Fatal(err)
						}
						call = c.name + " " + c.read
					}
					cmd := exec.CommandContext(t.Context(), "timeout", "60", "bash", "-c", "mkfifo fifo\n"+way.before+" "+call+" "+way.word+" "+way.behind)
					cmd.Dir = dir
					cmd.Env = []string{"PATH=" + dir + "/link:" + dir + "/real:" + filepath.Dir(tool) + ":" + os.Getenv("PATH"),
						"HOME=" + dir, "OUTLAST_MAX_WAIT=100ms"}
					cmd.WaitDelay = time.Second // a writer to a FIFO that nobody reads stays
					out, err := cmd.CombinedOutput()
					got, _ := filepath.Glob(filepath.Join(dir, "got.*"))
					for _, name := range got {
						if text, _ := os.ReadFile(name); !bytes.Equal(bytes.TrimSpace(text), []byte(strings.TrimSpace(whole))) {
							t.Errorf("%s: %d bytes of %d, or others", filepath.Base(name), len(text), len(whole))
						}
					}
					switch again := way.once == ""; {
					case again && (err != nil || len(got) != 2), !again && (cmd.ProcessState.ExitCode() != c.exit || len(got) != 1):
						t.Errorf("%d attempts, %v\n%s", len(got), err, out)
					case !again && !linked && !strings.Contains(string(out), way.once), linked && strings.Contains(string(out), "outlast"):
						t.Errorf("it is told: %s", out)
					}
				})
			}
		}
	}
}
