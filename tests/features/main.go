// Command features tries what retry libraries do, each by a program in its language,
// and prints what came of it as a Markdown table. The table in docs/comparison.md is
// its output:
//
//	python/check.sh && js/check.sh && cd tests/features && go run .
//
// It needs the virtual environment and the node_modules that these make, and Maven.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// tried is what came of one feature of one library.
type tried struct {
	Library string `json:"library"`
	Version string `json:"version"`
	Row     string `json:"row"`
	Cell    string `json:"cell"`
}

// probe is the program that tries the libraries of another language than Go.
type probe struct {
	language, needs string
	argv            []string // with the server's URL and a policy's file for URL and POLICY
}

var probes = []probe{
	{"Python", "../../python/.venv/bin/python", []string{"../../python/.venv/bin/python", "probe.py", "URL", "POLICY"}},
	{"Node", "../../js/node_modules/cockatiel", []string{"node", "probe.mjs", "URL", "POLICY"}},
	{"Java", "", []string{"mvn", "--quiet", "--batch-mode", "compile", "exec:java", "-Dexec.args=URL"}},
}

func (p *probe) run(url, policy string) (all []tried, err error) {
	var argv []string
	for _, arg := range p.argv {
		argv = append(argv, strings.NewReplacer("URL", url, "POLICY", policy).Replace(arg))
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s%s", p.language, err, out, &complaints)
	}
	for _, line := range bytes.Split(out, []byte("\n")) {
		_, line, ok := bytes.Cut(line, []byte("{")) // Maven puts a colour before it
		if !ok {
			continue
		}
		var t tried
		if err := json.Unmarshal(append([]byte("{"), line...), &t); err != nil {
			return nil, fmt.Errorf("%s printed %s: %w", p.language, out, err)
		}
		all = append(all, t)
	}
	return all, nil
}

func main() {
	table, err := run()
	if err != nil {
		fmt.Fprintln(os.Stderr, "features:", err)
		os.Exit(1)
	}
	fmt.Print(table)
}

// run tries everything. Most of the time it waits, so the languages are side by side.
func run() (string, error) {
	url, err := start()
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "features-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	policy := filepath.Join(dir, "slow.json")
	if err := writeSlow(policy); err != nil {
		return "", err
	}
	found := map[string][]tried{}
	var failed error
	var running sync.WaitGroup
	var mu sync.Mutex // guards found and failed
	keep := func(language string, all []tried, err error) {
		mu.Lock()
		defer mu.Unlock()
		found[language], failed = all, errors.Join(failed, err)
	}
	for _, p := range probes {
		running.Go(func() {
			all, err := p.run(url, policy)
			keep(p.language, all, err)
		})
	}
	keep("Go", tryGo(url, policy), nil)
	running.Wait()
	if failed != nil {
		return "", failed
	}
	return tableOf(found), nil
}

// lacking is what this machine lacks, if anything.
func lacking() string {
	for _, p := range probes {
		if _, err := exec.LookPath(p.argv[0]); err != nil {
			return err.Error()
		}
		if _, err := os.Stat(p.needs); p.needs != "" && err != nil {
			return err.Error()
		}
	}
	// Some machines have Maven and no way to its registry.
	if out, err := exec.Command("mvn", "--quiet", "--batch-mode", "dependency:resolve").CombinedOutput(); err != nil {
		return fmt.Sprintf("mvn dependency:resolve: %v\n%s", err, out)
	}
	return ""
}

// tableOf has a line for each row, and a column for each library.
func tableOf(found map[string][]tried) string {
	var text strings.Builder
	text.WriteString("| |")
	for _, l := range libraries {
		version := ""
		for _, language := range l.languages {
			for _, t := range found[language] {
				if t.Library == l.name && t.Version != "" {
					version = t.Version
				}
			}
		}
		fmt.Fprintf(&text, " %s (%s) |", l.name+" "+version, strings.Join(l.languages, ", "))
	}
	text.WriteString("\n|---|" + strings.Repeat("---|", len(libraries)) + "\n")
	for _, r := range rows {
		fmt.Fprintf(&text, "| %s |", r.what)
		for _, l := range libraries {
			fmt.Fprintf(&text, " %s |", cellOf(found, l.name, l.languages, r.id))
		}
		text.WriteString("\n")
	}
	return text.String()
}

// cellOf is what came of a row; where languages differ, of each.
func cellOf(found map[string][]tried, library string, languages []string, row string) string {
	said := map[string][]string{} // languages by cell
	var order []string
	for _, language := range languages {
		cell := "**not tried**"
		if row == "document" {
			cell = "no: " + language + " alone" // all that it is made for
		}
		for _, t := range found[language] {
			if t.Library == library && t.Row == row {
				cell = t.Cell
			}
		}
		if said[cell] == nil {
			order = append(order, cell)
		}
		said[cell] = append(said[cell], language)
	}
	if len(said) == 1 {
		return slices.Collect(maps.Keys(said))[0]
	}
	var cells []string
	for _, cell := range order {
		cells = append(cells, strings.Join(said[cell], ", ")+": "+cell)
	}
	return strings.Join(cells, " · ")
}
