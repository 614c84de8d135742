//go:build unix

// Capture runs the real commands against real failures and prints what they
// said, one JSON object a line:
//
//	go run -C commands/capture . curl > commands/curl/testdata/captures.jsonl
//	go run -C commands/capture . psql-slots psql-pool >> commands/psql/testdata/captures.jsonl
//
// Arguments are how the names of the wanted captures begin.
//
// It needs curl, psql, redis-cli, kubectl, ssh and git on PATH, and the servers
// postgres, initdb, pgbouncer, redis-server, sshd, haproxy and nginx (often in
// /usr/sbin); what is not there is left out, which is said on stderr. It takes
// about three minutes. Started as root it runs servers as a plain user. It works
// on Linux: a server that does not answer is a full listen queue.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// capture is one line of the output.
type capture struct {
	Name    string   `json:"name"`
	Policy  string   `json:"policy"`
	Version string   `json:"version"`
	Argv    []string `json:"argv"`
	Stdin   string   `json:"stdin,omitempty"`
	// In the current directory, which is the user's home too.
	Files    map[string]string `json:"files,omitempty"`
	Exit     int64             `json:"exit"`
	Stdout   string            `json:"stdout"`
	Stderr   string            `json:"stderr"`
	Happened string            `json:"happened"`
	Applied  bool              `json:"applied"` // a server may have carried out some of it
	Sent     string            `json:"sent"`    // what the command line and the result must tell
	Read     verdict           `json:"read"`
	Write    verdict           `json:"write"`
}

// verdict is what the policy must say.
type verdict struct {
	Kind    string `json:"kind"`
	Action  string `json:"action"`
	Effects string `json:"effects,omitempty"`
}

// scene is a failure with what must be made of it.
type scene struct {
	name     string
	argv     []string
	stdin    string
	files    map[string]string // in the current directory, which is the home too
	env      []string
	happened string
	applied  bool
	sure     bool   // the command line and the text prove that nothing was sent
	kind     string // of a read
}

// stage has what scenes need.
type stage struct {
	dir     string
	out     *json.Encoder
	cleanup []func()
}

func main() {
	dir, err := os.MkdirTemp("", "capture")
	check(err)
	check(os.Chmod(dir, 0o755))
	check(os.Setenv("HOME", dir)) // no rc file of the user's
	check(os.Setenv("LC_ALL", "C.UTF-8"))
	s := &stage{dir: dir, out: json.NewEncoder(os.Stdout)}
	s.out.SetEscapeHTML(false)
	defer os.RemoveAll(dir)
	for _, c := range []struct {
		command string
		play    func(*stage)
	}{
		{"curl", curl}, {"psql", psql}, {"redis-cli", redis},
		{"kubectl", kubectl}, {"ssh", ssh}, {"git", git},
	} {
		if _, err := exec.LookPath(c.command); err != nil {
			fmt.Fprintf(os.Stderr, "left out: %v\n", err)
			continue
		}
		c.play(s)
		proxied(s, c.command)
		for i := len(s.cleanup) - 1; i >= 0; i-- {
			s.cleanup[i]()
		}
		s.cleanup = nil
	}
}

// play runs a scene and prints its capture.
func (s *stage) play(c scene) {
	if !wanted(c.name) {
		return
	}
	for name, text := range c.files {
		path := filepath.Join(s.dir, name)
		check(os.WriteFile(path, []byte(text), 0o600))
		defer os.Remove(path)
	}
	var stdout, stderr strings.Builder
	cmd := exec.Command(c.argv[0], c.argv[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.Stdin = s.dir, &stdout, &stderr, strings.NewReader(c.stdin)
	cmd.Env = append(os.Environ(), c.env...)
	cmd.WaitDelay = 10 * time.Second
	err := cmd.Run()
	if cmd.ProcessState == nil {
		check(err)
	}
	line := capture{
		Name: c.name, Policy: c.argv[0], Version: version(c.argv[0]), Argv: c.argv, Stdin: c.stdin, Files: c.files,
		Exit: int64(cmd.ProcessState.ExitCode()), Stdout: stdout.String(), Stderr: stderr.String(),
		Happened: c.happened, Applied: c.applied, Sent: "unknown",
		Read:  verdict{Kind: c.kind, Action: "retry"},
		Write: verdict{Kind: c.kind, Action: "stop", Effects: "unknown"},
	}
	if c.kind == "loading" {
		line.Write.Kind = "failed" // it is believed of a read only
	}
	if c.kind == "failed" {
		line.Read.Action = "stop"
	}
	if c.sure {
		line.Sent = "no"
		line.Write = verdict{Kind: c.kind, Action: line.Read.Action}
		if line.Write.Action == "stop" {
			line.Write.Effects = "none"
		}
	}
	check(s.out.Encode(line))
	if line.Exit == 0 {
		fmt.Fprintf(os.Stderr, "%s: did not fail\n", c.name)
	}
}

// wanted says whether a scene is one of those that were asked for.
func wanted(name string) bool {
	for _, start := range os.Args[1:] {
		if strings.HasPrefix(name, start) {
			return true
		}
	}
	return len(os.Args) == 1
}

var versions = map[string]string{}

// version is the first line with a digit that the command says of itself.
func version(command string) string {
	if v, ok := versions[command]; ok {
		return v
	}
	arg := map[string]string{"ssh": "-V", "kubectl": "version"}[command]
	if arg == "" {
		arg = "--version"
	}
	out, _ := exec.Command(command, arg).CombinedOutput() // kubectl fails without a server
	for _, line := range strings.Split(string(out), "\n") {
		if strings.ContainsAny(line, "0123456789") {
			versions[command] = line
			return line
		}
	}
	return ""
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
