package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"outlast/abi"
)

// client, if set, makes this test binary a command that asks a URL: 7, as curl
// says it, if there is no server.
const client = "OUTLAST_TEST_CLIENT"

func TestMain(m *testing.M) {
	if url := os.Getenv(client); url != "" {
		os.Exit(ask(url))
	}
	code := m.Run()
	os.RemoveAll(made.dir)
	os.Exit(code)
}

// made is the release that these tests look at.
var made struct {
	once    sync.Once
	dir     string // of what was built here
	release string // the folder of the release
	whole   bool   // it has every artifact, as shipped
	err     error
}

// theRelease is the folder of OUTLAST_DIST, or what can be made in a few seconds:
// this machine's programs, linked as go build does.
func theRelease(t *testing.T) string {
	t.Helper()
	made.once.Do(func() {
		if made.release, made.whole = os.LookupEnv("OUTLAST_DIST"); made.whole {
			return
		}
		if made.dir, made.err = os.MkdirTemp("", "release"); made.err != nil {
			return
		}
		made.release = filepath.Join(made.dir, "dist")
		made.err = makePart(made.release, buildOnce(filepath.Join(made.dir, "program")))
	})
	if made.err != nil {
		t.Fatal(made.err)
	}
	return made.release
}

// buildOnce builds this machine's program at a path, and gives out copies.
func buildOnce(path string) func(target, string) error {
	return func(_ target, to string) error {
		if _, err := os.Stat(path); err != nil {
			build := exec.Command("go", "build", "-buildvcs=false", "-o", path, "./cmd/outlast")
			build.Dir = ".." // another module would link other versions
			build.Env = append(os.Environ(), "CGO_ENABLED=0")
			if err := runQuietly(build); err != nil {
				return err
			}
		}
		program, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(to, program, 0o700)
	}
}

// makePart makes what needs no other registry than Go's.
func makePart(dir string, build func(target, string) error) error {
	r, err := newRelease("..", dir, strings.Repeat("0", 40), time.Unix(1_700_000_000, 0).UTC())
	if err != nil {
		return err
	}
	defer os.RemoveAll(r.work)
	r.targets, r.build = []target{{runtime.GOOS, runtime.GOARCH}}, build
	for _, step := range []func() error{r.text, r.binaries, r.archives, r.packages, r.images, r.bom, r.provenance, r.sums} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// Where, when, with which mask and in which language it is made changes no byte.
func TestTheSameBytes(t *testing.T) {
	first, err := os.ReadFile(filepath.Join(theRelease(t), "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	if made.whole {
		t.Skip("./build.sh release --check has made the whole of it twice")
	}
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	t.Setenv("TZ", "Asia/Kathmandu")
	t.Setenv("LC_ALL", "tr_TR.UTF-8")
	defer syscall.Umask(syscall.Umask(0o077))
	elsewhere := filepath.Join(t.TempDir(), "another folder")
	if err := makePart(elsewhere, buildOnce(filepath.Join(made.dir, "program"))); err != nil {
		t.Fatal(err)
	}
	again, err := os.ReadFile(filepath.Join(elsewhere, "SHA256SUMS"))
	if err != nil || string(again) != string(first) {
		t.Errorf("%v\n%s\nand before\n%s", err, again, first)
	}
}

// What names.json says is what the files say that cannot read it.
func TestNamesAreTheFilesOwn(t *testing.T) {
	n, err := readNames()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ file, text, name string }{
		{"go.mod", `(?m)^module (\S+)$`, n.Module},
		{"python/pyproject.toml", `(?m)^name = "([^"]+)"$`, n.PyPI},
		{"js/package.json", `(?m)^  "name": "([^"]+)",$`, n.NPM},
	} {
		text, err := os.ReadFile(filepath.Join("..", c.file))
		if err != nil {
			t.Fatal(err)
		}
		if m := regexp.MustCompile(c.text).FindSubmatch(text); m == nil || string(m[1]) != c.name {
			t.Errorf("%s has the name %q, names.json %q", c.file, m, c.name)
		}
	}
}

func TestVersionStandsInOnePlace(t *testing.T) {
	if err := checkVersion("..", abi.Release); err != nil {
		t.Error(err)
	}
	root := t.TempDir()
	for _, c := range versionCopies {
		text, err := os.ReadFile(filepath.Join("..", c.file))
		if err != nil {
			t.Fatal(err)
		}
		os.MkdirAll(filepath.Dir(filepath.Join(root, c.file)), 0o755)
		if err := os.WriteFile(filepath.Join(root, c.file), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := stampVersion(root, "9.8.7"); err != nil || checkVersion(root, "9.8.7") != nil || checkVersion(root, abi.Release) == nil {
		t.Errorf("%v; the new version: %v, the old one: %v", err, checkVersion(root, "9.8.7"), checkVersion(root, abi.Release))
	}
	text, err := os.ReadFile(filepath.Join(root, "js/package-lock.json"))
	var lock struct {
		Version  string
		Packages map[string]struct{ Version string }
	}
	if err := json.Unmarshal(text, &lock); err != nil || lock.Version != "9.8.7" || lock.Packages[""].Version != "9.8.7" {
		t.Errorf("%v: %s and %s", err, lock.Version, lock.Packages[""].Version)
	}
	if err != nil || strings.Count(string(text), "9.8.7") != 2 {
		t.Errorf("%v: another package's version was changed", err)
	}
	if err := stampVersion(root, abi.Release); err != nil {
		t.Error(err)
	}
	for _, c := range versionCopies {
		before, _ := os.ReadFile(filepath.Join("..", c.file))
		if after, _ := os.ReadFile(filepath.Join(root, c.file)); string(after) != string(before) {
			t.Errorf("%s is not what it was", c.file)
		}
	}
}

func TestSectionOfTheChangelog(t *testing.T) {
	const log = "# Changelog\n\n## [2.0.0] - 2026-01-02\n\n- two\n\n## [1.0.0]\n\n### Added\n\n- one\n\n[1.0.0]: there\n"
	for version, want := range map[string]string{"2.0.0": "- two\n", "1.0.0": "### Added\n\n- one\n"} {
		if got, err := sectionOf(log, version); err != nil || got != want {
			t.Errorf("%s: %q, %v", version, got, err)
		}
	}
	for _, missing := range []string{"3.0.0", "2.0"} {
		if got, err := sectionOf(log, missing); err == nil {
			t.Errorf("%s: %q", missing, got)
		}
	}
}

// A folder with something in it is not written over.
func TestNothingIsWrittenOver(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mine"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if r, err := newRelease("..", dir, "", time.Time{}); err == nil {
		t.Errorf("%+v", r)
	}
}

// Until the owner has published them, no page may tell to install these packages
// by name: what a registry has under it is somebody else's.
func TestNoStrangersPackage(t *testing.T) {
	byName := regexp.MustCompile(`\b(?:pip|pipx|uv|npm|pnpm|yarn|brew|apt|apt-get|dnf)3? (?:install|add|i|tool install|pip install) (?:-\S+ )*["']?outlast\b[^_-]`)
	for _, wrong := range []string{"pip install outlast ", "npm i outlast\n", "uv pip install --quiet 'outlast[trio]'"} {
		if !byName.MatchString(wrong) {
			t.Errorf("%q would not be seen", wrong)
		}
	}
	list := exec.Command("git", "ls-files", "*.md")
	list.Dir = ".."
	pages, err := list.Output()
	if err != nil {
		t.Skip("not in a checkout: ", err)
	}
	for page := range strings.Lines(string(pages)) {
		page = strings.TrimSpace(page)
		text, err := os.ReadFile(filepath.Join("..", page))
		if err != nil {
			t.Fatal(err)
		}
		if m := byName.Find(text); m != nil {
			t.Errorf("%s tells to %q", page, m)
		}
	}
}

// The page names each file that is made, for this version.
func TestThePageHasEachFile(t *testing.T) {
	page, err := os.ReadFile("../docs/install.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(theRelease(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !strings.Contains(string(page), "`"+f.Name()+"`") {
			t.Errorf("docs/install.md does not name %s", f.Name())
		}
	}
}
