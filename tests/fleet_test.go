package tests

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// fleetScripts are the scripts of docs/fleet.md: to follow a policy, a policy
// repository's CI, and a release.
func fleetScripts(t *testing.T) (follow, ci, release string) {
	t.Helper()
	page, err := os.ReadFile("../docs/fleet.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(blocks) != 3 {
		t.Fatalf("the page has %d scripts", len(blocks))
	}
	return blocks[0][1], blocks[1][1], blocks[2][1]
}

// The CI that docs/fleet.md shows passes with a repository that is sound, and with
// nothing that it is there to find.
func TestThePolicyRepositorysCI(t *testing.T) {
	_, ci, _ := fleetScripts(t)
	for name, test := range map[string]struct {
		file, old, new string // of the repository, for a change that is wrong
		want           string
	}{
		"sound":                {},
		"a faulty document":    {"report-client.json", `"90s"`, `"90"`, "max_wait: expected a positive duration"},
		"a window too short":   {"report-client.json", `"90s"`, `"60s"`, "too little headroom"},
		"an outage too long":   {"report-client.json", `"90s"`, `"20s"`, "FAIL"},
		"a write that repeats": {"report-client.json", `"remote": true, "connect_retry": true`, `"remote": true`, "rule 1 (unavailable) then[0] if connect_retry: is gone"},
		"another expectation":  {"cases/report-client.json", `"kind": "failed"`, `"kind": "refused"`, "kind: expected refused"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, run := policyRepository(t)
			if test.file != "" {
				edit(t, filepath.Join(dir, test.file), test.old, test.new)
			}
			out, err := run(ci)
			if (err == nil) != (test.file == "") || !strings.Contains(out, test.want) {
				t.Errorf("%v, and not %q:\n%s", err, test.want, out)
			}
		})
	}
}

// A release is made, signed by minisign itself, published, followed and used, as the
// page has it.
func TestARelease(t *testing.T) {
	if _, err := exec.LookPath("minisign"); err != nil {
		t.Skip("minisign is not here")
	}
	follow, _, release := fleetScripts(t)
	dir, run := policyRepository(t)
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer server.Close()
	must := func(script string) string {
		t.Helper()
		out, err := run(script)
		if err != nil {
			t.Fatalf("%v:\n%s", err, out)
		}
		return out
	}
	release = strings.ReplaceAll(release, "fleet.key", "fleet.key -t release")
	must("minisign -G -W -p fleet.pub -s fleet.key")
	must("SERIAL=4\n" + release)
	pull, _, _ := strings.Cut(follow, "\n")
	pull = strings.NewReplacer("oci://registry.example/fleet/psql:stable", server.URL+"/report-client.release.json",
		"/var/lib/outlast/policies", "policies", " --follow", "", " &", "").Replace(pull)
	if out, err := run(pull); err == nil || !strings.Contains(out, "there is no policy report-client yet") {
		t.Errorf("a name that is new: %v\n%s", err, out)
	}
	if out := must(pull + " --rules allow"); !strings.Contains(out, "serial 4, is in force") {
		t.Error(out)
	}
	edit(t, filepath.Join(dir, "report-client.json"), `"90s"`, `"120s"`)
	must("SERIAL=5\n" + release)
	if out := must(pull); !strings.Contains(out, "serial 5, is in force, in place of 4, and expires at") {
		t.Error(out)
	}
	if out := must("outlast policy list --policy-dir policies"); !regexp.MustCompile(`report-client +- +120 s .*serial 5`).MatchString(out) {
		t.Error(out)
	}
	must("SERIAL=3\n" + release)
	if out, err := run(pull); err == nil || !strings.Contains(out, "serial 3 is not above 5") {
		t.Errorf("an older one: %v\n%s", err, out)
	}
	edit(t, filepath.Join(dir, "report-client.release.json"), `"serial":3`, `"serial":6`)
	if out, err := run(pull); err == nil || !strings.Contains(out, "the signature is not that of key") {
		t.Errorf("an altered one: %v\n%s", err, out)
	}
}

// policyRepository is a copy of the one in testdata, and runs scripts in it.
func policyRepository(t *testing.T) (dir string, run func(script string) (string, error)) {
	t.Helper()
	dir = t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/fleet")); err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	tool := exec.Command("go", "build", "-o", filepath.Join(bin, "outlast"), "outlast/cmd/outlast")
	if out, err := tool.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir, func(script string) (string, error) {
		sh := exec.Command("sh", "-euc", script)
		sh.Dir = dir
		sh.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
		out, err := sh.CombinedOutput()
		return string(out), err
	}
}

func edit(t *testing.T, path, old, with string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), old) {
		t.Fatalf("%s has no %s: %v", path, old, err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), old, with, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
}
