package manual_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"outlast/cmd/outlast/internal/manual"
)

// A command line with one of everything that a completion has to tell apart.
type app struct {
	Run struct {
		Policy  string   `placeholder:"NAME|FILE" help:"The policy: which one. More."`
		Stdin   string   `enum:"replay,pass,none" default:"replay" help:"Don't [lose] it."`
		Quiet   bool     `short:"q" help:"Say nothing."`
		Events  string   `placeholder:"FILE" help:"A file."`
		Command []string `arg:"" passthrough:""`
	} `cmd:"" help:"Run a command."`
	Policy struct {
		Show struct {
			Policy string `arg:"" optional:"" placeholder:"NAME|FILE" help:"A policy."`
		} `cmd:"" help:"Print one."`
		Check struct {
			Dir string `placeholder:"DIR" help:"Where."`
		} `cmd:"" help:"Check one."`
	} `cmd:"" help:"Look at policies."`
	Secret struct{} `cmd:"" hidden:"" help:"Nobody's business."`
}

func TestMain(m *testing.M) {
	if os.Getenv("MANUAL_TEST_TOOL") == "" { // else this is what the scripts call
		os.Exit(m.Run())
	}
	manual.Offer(os.Stdout, model(&testing.T{}), os.Args[3:], map[string][]string{"NAME|FILE": {"omnigraph", "curl"}})
}

func model(t *testing.T) *kong.Node {
	t.Helper()
	k, err := kong.New(&app{}, kong.Name("tool"), kong.Description("Does \\it.\n\nFor example:\n\n    tool run -- x\n\n.Not a macro."))
	if err != nil {
		t.Fatal(err)
	}
	return k.Model.Node
}

// completions are what each shell offers for a line, in all that it is sure of.
var completions = []struct {
	line       string
	want, deny []string
}{
	{"tool ", []string{"run", "policy"}, []string{"show", "Secret", "secret"}},
	{"tool po", []string{"policy"}, []string{"run"}},
	{"tool policy ", []string{"show", "check"}, []string{"run"}},
	{"tool policy show ", []string{"omnigraph"}, []string{"check"}},
	{"tool run --st", []string{"--stdin"}, []string{"--policy"}},
	{"tool run --stdin ", []string{"replay", "pass", "none"}, []string{"omnigraph"}},
	{"tool run --stdin p", []string{"pass"}, []string{"none"}},
	{"tool run --policy ", []string{"omnigraph", "mine.json"}, []string{"replay"}},
	{"tool run --policy omni", []string{"omnigraph"}, []string{"mine.json"}},
	{"tool run --events m", []string{"mine.json"}, nil},
	{"tool run -q --policy omnigraph --st", []string{"--stdin"}, nil},
	{"tool run -- gre", []string{"grep"}, []string{"run", "--stdin"}},
}

func TestBash(t *testing.T) { testShell(t, "bash", completeBash) }
func TestFish(t *testing.T) { testShell(t, "fish", completeFish) }
func TestZsh(t *testing.T)  { testShell(t, "zsh", completeZsh) }

func testShell(t *testing.T, shell string, complete func(t *testing.T, script, dir, line string) []string) {
	if _, err := exec.LookPath(shell); err != nil {
		t.Skip(err)
	}
	text, err := manual.Completion("tool", shell)
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "tool"), []byte("#!/bin/sh\nMANUAL_TEST_TOOL=1 exec '"+self+"' \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mine.json"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(t.TempDir(), "_tool")
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range completions {
		got := complete(t, script, dir, test.line)
		for _, word := range test.want {
			if !slices.Contains(got, word) {
				t.Errorf("%q: %q is not offered in %q", test.line, word, got)
			}
		}
		for _, word := range test.deny {
			if slices.Contains(got, word) {
				t.Errorf("%q: %q is offered", test.line, word)
			}
		}
	}
}

func output(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	var out, errs bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &errs
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s%s", name, err, &out, &errs)
	}
	if errs.Len() > 0 {
		t.Errorf("%s %q says: %s", name, args, &errs)
	}
	return out.String()
}

func completeBash(t *testing.T, script, dir, line string) []string {
	words := strings.Split(line, " ")
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = "'" + w + "'"
	}
	return strings.Fields(output(t, dir, "bash", "--norc", "-c", `source "$1"; COMP_WORDS=(`+strings.Join(quoted, " ")+`)
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _tool tool; printf '%s\n' "${COMPREPLY[@]}"`, "bash", script))
}

func completeFish(t *testing.T, script, dir, line string) []string {
	text := output(t, dir, "fish", "--no-config", "-c", `source $argv[1]; complete -C $argv[2]`, script, line)
	var list []string
	for offer := range strings.Lines(text) {
		word, _, _ := strings.Cut(strings.TrimSpace(offer), "\t")
		list = append(list, word)
	}
	return list
}

// completeZsh asks a real zsh in its line editor, which zpty drives: it lists
// what it would offer.
func completeZsh(t *testing.T, script, dir, line string) []string {
	output(t, dir, "zsh", "-f", "-c", `
		zmodload zsh/zpty
		zpty z zsh -f -i
		zpty -w z "PS1= PS2= ; fpath=(${1:h} \$fpath); autoload -Uz compinit; compinit -u -D; stty -echo"
		zpty -w z 'compadd () { local -a got; builtin compadd -O got "$@"; (( $#got )) && print -rl -- "[" $got "]" >> '"$3"'; builtin compadd "$@"; }'
		zpty -w z 'zstyle ":completion:*" list-prompt ""; bindkey "^I" complete-word; LISTMAX=10000'
		zpty -w z 'print -r -- set''up'
		zpty -r z out '*setup*'
		zpty -w -n z "$2"$'\t'
		repeat 200; do [[ -s $3 ]] && break; sleep 0.1; done
		sleep 0.5
		zpty -d z`, "zsh", script, line, filepath.Join(dir, ".offers"))
	offers, err := os.ReadFile(filepath.Join(dir, ".offers"))
	if err != nil {
		return nil
	}
	os.Remove(filepath.Join(dir, ".offers"))
	return strings.Fields(string(offers))
}

func TestAnotherShell(t *testing.T) {
	if _, err := manual.Completion("tool", "csh"); err == nil || !strings.Contains(err.Error(), `not "csh"`) {
		t.Error(err)
	}
}

// The page is one that man's own checker has nothing to say about.
func TestPage(t *testing.T) {
	text := manual.Page(model(t), "1.2.3", []manual.Section{{Title: "Exit status", Text: "The command's own.\n\n'Nothing' else."}})
	for _, want := range []string{`tool \- does \eit`, `\fB\-\-stdin\fR`, `.SH "EXIT STATUS"`, `\&.Not a macro.`, `\&'Nothing' else.`, ".EX\ntool run \\-\\- x\n.EE"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "ecret") {
		t.Error("the page has a hidden verb")
	}
	path := filepath.Join(t.TempDir(), "tool.1")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath("mandoc"); err == nil {
		out, _ := exec.Command("mandoc", "-T", "lint", "-W", "warning", path).CombinedOutput()
		for line := range strings.Lines(string(out)) {
			if !strings.Contains(line, "missing date") { // it is made by the tool that it is for
				t.Error(line)
			}
		}
	}
	if _, err := exec.LookPath("man"); err == nil {
		out := output(t, ".", "man", "-l", path)
		if !strings.Contains(out, "--stdin") || !strings.Contains(out, "'Nothing' else.") {
			t.Errorf("man shows:\n%s", out)
		}
	}
}
