//go:build unix

package wrap

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"outlast/abi"
	"outlast/cmd/outlast/internal/library"
)

// refusals are a write and a read by each command, and what it says of a server
// to which it cannot connect. again: the write is repeated, by the real command.
var refusals = []struct {
	write, read string
	exit        int64
	stderr      string
	again       bool
}{
	{"curl -sSd a=1 http://127.0.0.1:1/", "curl -sS http://127.0.0.1:1/", 7, "curl: (7) Failed to connect to 127.0.0.1 port 1 after 0 ms: Couldn't connect to server\n", true},
	{"psql -Xc INSERT", "", 2, "psql: error: connection to server at \"127.0.0.1\", port 1 failed: Connection refused\n", true},
	{"redis-cli SET a b", "redis-cli GET a", 1, "Could not connect to Redis at 127.0.0.1:1: Connection refused\n", true},
	{"kubectl delete pod p", "kubectl get pod p", 1, "The connection to the server h was refused - did you specify the right host or port?\n", false},
	{"git push", "git fetch", 128, "fatal: unable to access 'http://h/': Failed to connect to h port 1 after 0 ms: Couldn't connect to server\n", false},
	{"ssh h true", "", 255, "ssh: connect to host h port 22: Connection refused\n", false},
}

// Whatever stands behind a command's name, its write is repeated only if it is
// the command, by a policy that reads it; or if the caller says so.
func TestWhichProgramsWritesAreRepeated(t *testing.T) {
	for _, c := range refusals {
		name, _, _ := strings.Cut(c.write, " ")
		there, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			t.Setenv("HOME", dir)
			file := func(path, text string) string {
				path = filepath.Join(dir, path)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
					t.Fatal(err)
				}
				return path
			}
			link := filepath.Join(filepath.Dir(file("link/x", "")), name)
			if err := os.Symlink(there, link); err != nil {
				t.Fatal(err)
			}
			twice := "#!/bin/sh\n" + there + " \"$@\"\n" + there + " \"$@\"\n"
			own := strings.Replace(library.Source(name), `"kind": "failed"`, `"kind": "other"`, 1)
			for _, p := range []struct {
				what, program, policy string
				is                    bool
			}{
				{"the command", there, "", true},
				{"the command, by its policy's name", there, name, true},
				{"a link to it", link, "", true},
				{"a script that becomes it", file("exec/"+name, "#!/bin/sh\nexec "+there+" \"$@\"\n"), "", true},
				{"a script of two calls", file("two/"+name, twice), "", false},
				{"a script that runs it", file("one/"+name, "#!/bin/sh\n"+there+" \"$@\"\n"), "", false},
				{"a script of another name", file("other.sh", twice), name, false},
				{"a script of another name, by a user's policy", file("other.sh", twice), file("own.json", own), false},
				{"a script of another name, by a policy with other numbers", file("other.sh", twice), file("numbers.json", strings.ReplaceAll(library.Source(name), `"120s"`, `"60s"`)), false},
				{"another program", "/bin/sh", name, false},
			} {
				check := func(how, line string, flags Flags, want bool) {
					t.Helper()
					if line == "" {
						return
					}
					flags.Policy, flags.Remote, flags.Ready = p.policy, true, "auto"
					argv := append([]string{p.program}, strings.Fields(line)[1:]...)
					request := &Request{Flags: flags, Argv: argv, Env: os.Environ()}
					seen, err := inspect(request)
					if err != nil {
						t.Fatalf("%s: %v", p.what, err)
					}
					plan, err := MakePlan(request, seen)
					if err != nil {
						t.Fatalf("%s: %v", p.what, err)
					}
					result := abi.Result{ExitCode: &c.exit, Stderr: abi.Clip(c.stderr)}
					// The bundled policies repeat nothing but what the host says is not sent.
					again := plan.Call.Read || plan.Call.Repeatable || plan.Command.Sent(&result) == abi.SentNo
					if again != want {
						t.Errorf("%s, %s: repeated: %t", p.what, how, again)
					}
					several := plan.Call.OneRequest != nil && !*plan.Call.OneRequest
					if !p.is && flags.Wrapper == nil && !plan.Call.Read && !plan.Call.Repeatable && !several {
						t.Errorf("%s, %s: taken for one request", p.what, how)
					}
				}
				named := filepath.Base(p.program) == name
				check("a write", c.write, Flags{}, p.is && c.again)
				check("a read by its line", c.read, Flags{}, named)
				check("--read", c.write, Flags{CallFlags: CallFlags{Read: true}}, true)
				repeatable := Flags{}
				repeatable.Repeatable = true
				check("--repeatable", c.write, repeatable, true)
				declared := Flags{}
				declared.Wrapper = []string{p.program}
				check("--wrapper", c.write, declared, named && c.again)
			}
		})
	}
}
