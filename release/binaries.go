package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// target is a system and a processor, as Go calls them.
type target struct{ os, arch string }

var allTargets = []target{
	{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"},
}

// program is the tool's file.
func (t target) program() string {
	if t.os == "windows" {
		return "outlast.exe"
	}
	return "outlast"
}

// binaries builds the tool for each target, and has this machine's print its manual
// page and its completions.
func (r *release) binaries() error {
	for _, t := range r.targets {
		path := filepath.Join(r.work, t.os+"_"+t.arch, t.program())
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := r.build(t, path); err != nil {
			return fmt.Errorf("%s/%s: %w", t.os, t.arch, err)
		}
		r.programs[t] = path
	}
	here, built := r.programs[target{runtime.GOOS, runtime.GOARCH}]
	if !built {
		return fmt.Errorf("nothing is built for %s/%s, so nothing prints the manual page", runtime.GOOS, runtime.GOARCH)
	}
	for _, page := range []struct {
		path string
		args []string
	}{
		{manPage, []string{"man"}},
		{bashWords, []string{"completion", "bash"}},
		{zshWords, []string{"completion", "zsh"}},
		{fishWords, []string{"completion", "fish"}},
	} {
		text, err := exec.Command(here, page.args...).Output()
		if err != nil {
			return fmt.Errorf("outlast %s: %w", page.args, err)
		}
		r.extra = append(r.extra, file{page.path, text, 0o644})
	}
	licence, err := os.ReadFile(filepath.Join(r.root, "LICENSE"))
	r.extra = append(r.extra, file{licenceFile, licence, 0o644})
	return err
}

// buildAsShipped is build.sh's way, which is also that of ./build.sh tool.
func (r *release) buildAsShipped(t target, path string) error {
	cmd := exec.Command(filepath.Join(r.root, "build.sh"), "binary", path)
	cmd.Env = append(os.Environ(), "GOOS="+t.os, "GOARCH="+t.arch)
	return runQuietly(cmd)
}

// runQuietly shows what a command printed only if it failed.
func runQuietly(cmd *exec.Cmd) error {
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w\n%s", cmd.Args, err, out)
	}
	return nil
}
