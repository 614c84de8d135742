package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// python builds the wheel and the source distribution, with the tools that the
// tests of the package pin.
func (r *release) python() error {
	dir := filepath.Join(r.root, "python")
	pins, err := os.ReadFile(filepath.Join(dir, "requirements-dev.txt"))
	if err != nil {
		return err
	}
	var tools []string
	for line := range strings.Lines(string(pins)) {
		name, _, _ := strings.Cut(line, "==")
		if name == "build" || name == "hatchling" {
			tools = append(tools, strings.TrimSpace(line))
		}
	}
	if len(tools) != 2 {
		return fmt.Errorf("python/requirements-dev.txt pins %q, not build and hatchling", tools)
	}
	env := filepath.Join(r.work, "python")
	interpreter := filepath.Join(env, "bin", "python")
	return r.inTurn(dir,
		[]string{"python3", "-m", "venv", env},
		append([]string{interpreter, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"}, tools...),
		[]string{interpreter, "-m", "build", "--no-isolation", "--outdir", r.out, "."},
	)
}

// npm builds the package of the npm registry.
func (r *release) npm() error {
	return r.inTurn(filepath.Join(r.root, "js"),
		[]string{"npm", "ci", "--no-audit", "--no-fund"},
		[]string{"npm", "pack", "--pack-destination", r.out},
	)
}

// inTurn runs commands in a folder, until one fails.
func (r *release) inTurn(dir string, commands ...[]string) error {
	for _, argv := range commands {
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), fmt.Sprintf("SOURCE_DATE_EPOCH=%d", r.when.Unix()))
		if err := runQuietly(cmd); err != nil {
			return err
		}
	}
	return nil
}
