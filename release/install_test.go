package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// ask is the client of the rides below.
func ask(url string) int {
	response, err := http.Get(url)
	if errors.Is(err, syscall.ECONNREFUSED) {
		fmt.Fprintln(os.Stderr, err)
		return 7
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer response.Body.Close()
	if _, err := io.Copy(os.Stdout, response.Body); err != nil {
		return 1
	}
	return 0
}

// away is a server that nobody has started yet: it is there in a second.
func away(t *testing.T) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "Ada and Grace") })}
	timer := time.AfterFunc(time.Second, func() {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Error(err)
			return
		}
		server.Serve(l)
	})
	t.Cleanup(func() { timer.Stop(); server.Close() })
	return "http://" + address
}

// the is a release's only file of a pattern.
func the(t *testing.T, pattern string) string {
	t.Helper()
	dir := theRelease(t)
	found, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %q, %v", pattern, found, err)
	}
	return found[0]
}

// must runs a command and gives what it printed.
func must(t *testing.T, argv ...string) string {
	t.Helper()
	return mustRun(t, exec.Command(argv[0], argv[1:]...))
}

func mustRun(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v\n%s", cmd.Args, err, out)
	}
	return string(out)
}

// tryTool does with an installed tool what the first page of the manual does.
func tryTool(t *testing.T, tool string) {
	t.Helper()
	if out := must(t, tool, "version"); !strings.HasPrefix(out, "outlast ") || !strings.Contains(out, "sha256:") {
		t.Errorf("version: %s", out)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ride := exec.Command(tool, "run", "--retry-exit", "7", "--max-wait", "30s", "--backoff", "0.3s", "--read", "--", self)
	ride.Env = append(os.Environ(), client+"="+away(t))
	ride.Stderr = os.Stderr
	if out, err := ride.Output(); err != nil || string(out) != "Ada and Grace" {
		t.Errorf("a ride: %v\n%s", err, out)
	}
	tryDemo(t, exec.Command(tool, "demo", "--outage", "1s", "--loading", "0.3s"))
}

func tryDemo(t *testing.T, demo *exec.Cmd) {
	t.Helper()
	if out := mustRun(t, demo); !strings.Contains(out, "Ada\n") || !strings.Contains(out, "Grace\n") || !strings.Contains(out, "succeeded after") {
		t.Errorf("demo: %s", out)
	}
}

// tryPages reads the manual page as man does, and has bash complete a verb.
func tryPages(t *testing.T, tool, page, words string) {
	t.Helper()
	if _, err := exec.LookPath("man"); err == nil {
		if out := must(t, "man", "-l", page); !strings.Contains(out, "Exit codes") || !strings.Contains(out, "OUTLAST_") {
			t.Errorf("man: %s", out)
		}
	} else {
		t.Log("no man here")
	}
	script := `. "$1"; COMP_WORDS=(outlast ver) COMP_CWORD=1; _outlast; echo "${COMPREPLY[@]}"`
	complete := exec.Command("bash", "-c", script, "bash", words)
	complete.Env = append(os.Environ(), "PATH="+filepath.Dir(tool)+":"+os.Getenv("PATH"))
	if out := mustRun(t, complete); out != "verify version\n" {
		t.Errorf("completion: %s", out)
	}
}

func TestInstalledArchive(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, "tar", "-xzf", the(t, "outlast_*_"+runtime.GOOS+"_"+runtime.GOARCH+".tar.gz"), "-C", dir, "--strip-components=1")
	tool := filepath.Join(dir, "outlast")
	tryTool(t, tool)
	tryPages(t, tool, filepath.Join(dir, manPage), filepath.Join(dir, bashWords))
}

func TestInstalledDeb(t *testing.T) {
	t.Parallel()
	needs(t, "dpkg")
	root := t.TempDir()
	for _, dir := range []string{"updates", "info", "triggers"} {
		if err := os.MkdirAll(filepath.Join(root, "var/lib/dpkg", dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "var/lib/dpkg/status"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	dpkg := []string{"dpkg", "--root=" + root, "--force-not-root", "--force-script-chrootless", "--force-architecture", "--log=/dev/null"}
	must(t, append(dpkg, "--install", the(t, "outlast_*_"+runtime.GOARCH+".deb"))...)
	tryPackage(t, root)
	must(t, append(dpkg, "--purge", "outlast")...)
	nothingLeft(t, root)
}

func TestInstalledRPM(t *testing.T) {
	t.Parallel()
	needs(t, "rpm")
	if os.Getuid() != 0 {
		t.Skip("rpm changes into the root that it installs to, which only root may")
	}
	arch := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]
	root := t.TempDir()
	must(t, "rpm", "--root", root, "--initdb")
	must(t, "rpm", "--root", root, "--install", the(t, "outlast-*."+arch+".rpm"))
	tryPackage(t, root)
	must(t, "rpm", "--root", root, "--erase", "outlast")
	nothingLeft(t, root)
}

// needs skips a test where a system's own installer is missing.
func needs(t *testing.T, program string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("packages are for Linux")
	}
	if _, err := exec.LookPath(program); err != nil {
		t.Skip(err)
	}
}

func tryPackage(t *testing.T, root string) {
	t.Helper()
	tool := filepath.Join(root, "usr/bin/outlast")
	tryTool(t, tool)
	tryPages(t, tool, filepath.Join(root, "usr/share/man/man1/outlast.1.gz"), filepath.Join(root, "usr/share/bash-completion/completions/outlast"))
}

// nothingLeft looks for files that an uninstallation has forgotten.
func nothingLeft(t *testing.T, root string) {
	t.Helper()
	if left := must(t, "find", root, "-name", "*outlast*", "-not", "-path", "*/var/lib/*"); left != "" {
		t.Errorf("left behind: %s", left)
	}
}
