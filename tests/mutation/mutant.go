package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"outlast/plugin/policy"
)

// folder is where all mutated files are, below the module's root.
const folder = "plugin/policy"

// mutant is one small change to one file.
type mutant struct {
	file string // below folder
	what string // the change in words
	why  string // what would go wrong
	edit func(text string) (string, error)
}

func (m *mutant) title() string {
	return m.file + ": " + m.what + ": " + m.why
}

// replace is a mutant in which one text stands for another, which must be there
// exactly once.
func replace(file, old, with, why string) mutant {
	what := oneLine(old) + " → " + oneLine(with)
	return mutant{file, what, why, func(text string) (string, error) {
		if n := strings.Count(text, old); n != 1 {
			return "", fmt.Errorf("the text to replace is there %d times, not once", n)
		}
		return strings.Replace(text, old, with, 1), nil
	}}
}

func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if s == "" {
		return "nothing"
	}
	return s
}

// move is a mutant of a policy document in which the first rule of a kind
// stands before the first rule of another. "kind 2" is the second rule of a kind, and so on.
func move(file, kind, before, why string) mutant {
	return mutant{file, "rule " + kind + " before " + before, why, func(text string) (string, error) {
		start, end, err := rule(text, kind)
		if err != nil {
			return "", err
		}
		block := text[start:end]
		rest := text[:start] + text[end:]
		at, _, err := rule(rest, before)
		if err != nil {
			return "", err
		}
		if at >= start {
			return "", fmt.Errorf("rule %s is before %s already", kind, before)
		}
		return rest[:at] + block + rest[at:], nil
	}}
}

// rule finds where a rule of a document starts and ends, with its comma.
func rule(text, kind string) (start, end int, err error) {
	kind, number, _ := strings.Cut(kind, " ")
	nth, _ := strconv.Atoi(number) // 0 is the first, as 1 is
	head := "    {\n      \"kind\": \"" + kind + "\""
	start = strings.Index(text, head)
	for ; nth > 1 && start >= 0; nth-- {
		if next := strings.Index(text[start+1:], head); next >= 0 {
			start += 1 + next
		} else {
			start = -1
		}
	}
	const tail = "\n    },\n"
	if start >= 0 {
		end = strings.Index(text[start:], tail)
	}
	if start < 0 || end < 0 {
		return 0, 0, errors.New("there is no such rule: " + kind)
	}
	return start, start + end + len(tail), nil
}

// apply is the mutant's text of its file. It must differ, and a document must
// still be valid: one that cannot be read would prove nothing.
func (m *mutant) apply(root string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, folder, m.file))
	if err != nil {
		return "", err
	}
	changed, err := m.edit(string(text))
	if err != nil {
		return "", err
	}
	if changed == string(text) {
		return "", errors.New("it changes nothing")
	}
	if strings.HasSuffix(m.file, ".json") {
		if _, err := policy.Parse(changed); err != nil {
			return "", fmt.Errorf("the changed document is invalid: %w", err)
		}
	}
	return changed, nil
}

// try runs the tests on the mutant; nil means that they found it out.
func (m *mutant) try(root, dir string) error {
	changed, err := m.apply(root)
	if err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	stand, overlay := filepath.Join(dir, filepath.Base(m.file)), filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(stand, []byte(changed), 0o600); err != nil {
		return err
	}
	original := filepath.Join(root, folder, m.file)
	content, err := json.Marshal(map[string]map[string]string{"Replace": {original: stand}})
	if err != nil {
		return err
	}
	if err := os.WriteFile(overlay, content, 0o600); err != nil {
		return err
	}
	out, err := test(root, "-overlay", overlay)
	switch {
	case err == nil:
		return errors.New("all tests pass")
	case strings.Contains(out, "[build failed]") || strings.Contains(out, "[setup failed]"):
		return errors.New("it does not compile:\n" + out)
	}
	return nil
}

// testPasses wants the tests to pass without any change, else a failure would
// say nothing.
func testPasses(root string) error {
	if out, err := test(root); err != nil {
		return errors.New("the tests fail before anything is changed:\n" + out)
	}
	return nil
}

// test runs the policy's tests until the first that fails. Most of its time goes
// into building them, which is faster if nothing is optimised.
func test(root string, args ...string) (out string, err error) {
	args = append([]string{
		"test", "-vet=off", "-gcflags=-N -l", "-ldflags=-s -w", "-short", "-failfast", "-timeout=120s",
	}, args...)
	cmd := exec.Command("go", append(args, "./"+folder+"/...")...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOFLAGS=")
	b, err := cmd.CombinedOutput()
	return string(b), err
}

// moduleRoot is the folder of go.mod.
func moduleRoot() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOMOD: %w", err)
	}
	return filepath.Dir(strings.TrimSpace(string(out))), nil
}
