package tests

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// recipes are the blocks of docs/operations.md in a language.
func recipes(t *testing.T, language string) (blocks []string) {
	t.Helper()
	text, err := os.ReadFile("../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		blocks = append(blocks, m[1])
	}
	if len(blocks) == 0 {
		t.Fatalf("there is no recipe in %s", language)
	}
	return blocks
}

// The Job is one that Kubernetes takes, by its own schema, and the code that
// ends it is the one that outlast is told to give.
func TestTheJob(t *testing.T) {
	text := recipes(t, "yaml")[0]
	asJSON, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	schema, err := jsonschema.NewCompiler().Compile("testdata/kubernetes-job.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	check := func(text []byte) error {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return schema.Validate(v)
	}
	if err := check(asJSON); err != nil {
		t.Error(err)
	}
	for _, wrong := range [][2]string{{"onExitCodes", "onExitCode"}, {"[76]", `["76"]`}, {"operator", "op"}} {
		bad, err := yaml.YAMLToJSON([]byte(strings.Replace(text, wrong[0], wrong[1], 1)))
		if err == nil {
			err = check(bad)
		}
		if err == nil {
			t.Errorf("the schema takes %q", wrong[1])
		}
	}
	var job struct {
		Spec struct {
			PodFailurePolicy struct {
				Rules []struct {
					Action      string
					OnExitCodes *struct {
						ContainerName, Operator string
						Values                  []int
					}
				}
			}
			Template struct {
				Spec struct{ Containers []struct{ Name string } }
			}
		}
	}
	if err := json.Unmarshal(asJSON, &job); err != nil {
		t.Fatal(err)
	}
	rule := job.Spec.PodFailurePolicy.Rules[0]
	if rule.Action != "FailJob" || rule.OnExitCodes.Operator != "In" || len(rule.OnExitCodes.Values) != 1 || rule.OnExitCodes.Values[0] != 76 ||
		rule.OnExitCodes.ContainerName != job.Spec.Template.Spec.Containers[0].Name {
		t.Errorf("%+v", rule)
	}
}

// systemd itself takes the unit.
func TestTheUnit(t *testing.T) {
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("systemd-analyze is not here")
	}
	unit := filepath.Join(t.TempDir(), "load@.service")
	verify := func(text string) string {
		if err := os.WriteFile(unit, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command("systemd-analyze", "verify", "--man=no", unit).CombinedOutput()
		if err != nil {
			return string(out) + err.Error()
		}
		return string(out)
	}
	text := recipes(t, "ini")[0]
	if out := verify(text); out != "" {
		t.Error(out)
	}
	for _, wrong := range [][2]string{{"Prevent", "Prevents"}, {"=76", "=soon"}, {"on-failure", "on-fail"}} {
		if out := verify(strings.Replace(text, wrong[0], wrong[1], 1)); out == "" {
			t.Errorf("systemd takes %q", wrong[1])
		}
	}
}

// The loop is run, with a command for each way in which one can end.
func TestTheLoop(t *testing.T) {
	dir := t.TempDir()
	tool := exec.Command("go", "build", "-o", filepath.Join(dir, "outlast"), "outlast/cmd/outlast")
	if out, err := tool.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	loop := filepath.Join(dir, "loop")
	var text string
	for _, block := range recipes(t, "sh") {
		if strings.HasPrefix(block, "#!") {
			text = block
		}
	}
	if err := os.WriteFile(loop, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	graph := goProgram(t, dir)
	for end, want := range map[string]struct{ code, runs int }{
		"ok": {0, 1}, "broken": {76, 1},
	} {
		home := t.TempDir()
		for again := range 2 { // as cron does
			cmd := exec.Command("sh", loop)
			cmd.Dir = home
			cmd.Env = append(os.Environ(), "HOME="+home, "PAUSE=0", "GRAPH_END="+end, "SERVER=http://127.0.0.1:1",
				"PATH="+filepath.Dir(graph)+":"+dir+":"+os.Getenv("PATH"), "OUTLAST_READY=off")
			out, _ := cmd.CombinedOutput()
			runs, _ := os.ReadFile(filepath.Join(home, "runs"))
			if code := cmd.ProcessState.ExitCode(); code != want.code || len(runs) != want.runs {
				t.Errorf("%s, run %d: exit code %d, the command ran %d times\n%s", end, again+1, code, len(runs), out)
			}
		}
	}
}

// goProgram is a program named omnigraph that notes its run and ends as
// GRAPH_END says.
func goProgram(t *testing.T, dir string) string {
	t.Helper()
	source := filepath.Join(dir, "main.go")
	text := "package main\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n\n" + `func main() {
	f, _ := os.OpenFile("runs", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	f.WriteString("x")
	f.Close()
	if os.Getenv("GRAPH_END") == "ok" {
		fmt.Println("loaded")
		return
	}
	fmt.Fprint(os.Stderr, "Error: \n   0: error sending request for url (http://h/)\n   1: client error (SendRequest)\n   2: connection closed before message completed\n\nLocation:\n   x\n")
	os.Exit(1)
}
`
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "bin", "omnigraph")
	if out, err := exec.Command("go", "build", "-o", program, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}
