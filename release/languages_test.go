package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const pythonRide = `
import sys, urllib.request
import outlast

@outlast.retry(remote=True, write=False)
def people() -> str:
    return urllib.request.urlopen(sys.argv[1]).read().decode()

print(people())
`

const nodeRide = `
import { retry } from "outlast";
const ask = async ({ signal }) => (await fetch(process.argv[2], { signal })).text();
console.log(await retry(ask, { remote: true, write: false }));
`

// wholeOnly skips what is only in a whole release.
func wholeOnly(t *testing.T) {
	t.Helper()
	if theRelease(t); !made.whole {
		t.Skip("only of a whole release: ./build.sh release --check")
	}
}

func TestInstalledPython(t *testing.T) {
	t.Parallel()
	wholeOnly(t)
	for name, pattern := range map[string]string{"wheel": "outlast-*.whl", "sdist": "outlast-*.tar.gz"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := t.TempDir()
			python := filepath.Join(env, "bin/python")
			must(t, "python3", "-m", "venv", env)
			must(t, python, "-m", "pip", "install", "--quiet", the(t, pattern))
			if out := must(t, python, "-c", pythonRide, away(t)); !strings.HasSuffix(out, "\nAda and Grace\n") { // behind what is told of the outage
				t.Errorf("%s", out)
			}
			must(t, python, "-m", "pip", "uninstall", "--yes", "--quiet", "outlast")
			if out, err := exec.Command(python, "-c", "import outlast").CombinedOutput(); err == nil || !strings.Contains(string(out), "ModuleNotFoundError") {
				t.Errorf("after it was uninstalled: %v, %s", err, out)
			}
		})
	}
}

func TestInstalledNode(t *testing.T) {
	t.Parallel()
	wholeOnly(t)
	dir := t.TempDir()
	run := func(argv ...string) string {
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir = dir
		return mustRun(t, cmd)
	}
	if err := os.WriteFile(filepath.Join(dir, "ride.mjs"), []byte(nodeRide), 0o644); err != nil {
		t.Fatal(err)
	}
	run("npm", "init", "--yes")
	run("npm", "install", "--no-audit", "--no-fund", the(t, "outlast-*.tgz"))
	if out := run("node", "ride.mjs", away(t)); out != "Ada and Grace\n" {
		t.Errorf("%s", out)
	}
	run("npm", "uninstall", "--no-audit", "--no-fund", "outlast")
	if _, err := os.Stat(filepath.Join(dir, "node_modules/outlast")); err == nil {
		t.Error("after it was uninstalled it is still there")
	}
}
