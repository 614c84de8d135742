package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// The version stands in abi/abi.go, where the plugin, the tool and the Go host have
// it from. What cannot read Go has a copy: the second group of each expression.
var versionCopies = []struct {
	file string
	text *regexp.Regexp
}{
	{"python/src/outlast/_version.py", regexp.MustCompile(`(__version__ = ")([^"]+)(")`)},
	{"js/package.json", regexp.MustCompile(`(?m)(^  "version": ")([^"]+)(")`)},
	// Of a lock file's versions the first two are the package's own.
	{"js/package-lock.json", regexp.MustCompile(`((?m:^  "version": "|^    "": \{\n      "name": "[^"]+",\n      "version": "))([^"]+)(")`)},
}

// stampVersion writes the version into the copies.
func stampVersion(root, version string) error {
	for _, c := range versionCopies {
		path := filepath.Join(root, c.file)
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if !c.text.Match(text) {
			return fmt.Errorf("%s: no version is found", c.file)
		}
		stamped := c.text.ReplaceAll(text, []byte("${1}"+version+"${3}"))
		if err := os.WriteFile(path, stamped, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// checkVersion is an error if a copy differs.
func checkVersion(root, version string) error {
	for _, c := range versionCopies {
		text, err := os.ReadFile(filepath.Join(root, c.file))
		if err != nil {
			return err
		}
		for _, m := range c.text.FindAllSubmatch(text, -1) {
			if string(m[2]) != version {
				return fmt.Errorf("%s has version %s, abi/abi.go %s: run ./build.sh version", c.file, m[2], version)
			}
		}
	}
	return nil
}

// text writes the changelog's section of this version: it is the release's text.
func (r *release) text() error {
	if err := checkVersion(r.root, r.version); err != nil {
		return err
	}
	log, err := os.ReadFile(filepath.Join(r.root, "CHANGELOG.md"))
	if err != nil {
		return err
	}
	section, err := sectionOf(string(log), r.version)
	if err != nil {
		return err
	}
	return os.WriteFile(r.path("RELEASE.md"), []byte(section), 0o644)
}

// sectionOf is the part of a changelog below a version's heading.
func sectionOf(log, version string) (string, error) {
	_, rest, found := strings.Cut(log, "\n## ["+version+"]")
	if !found {
		return "", fmt.Errorf("CHANGELOG.md has no section for %s", version)
	}
	_, rest, _ = strings.Cut(rest, "\n")
	section, _, _ := strings.Cut(rest, "\n## ")
	section, _, _ = strings.Cut(section, "\n[") // where links stand
	if section = strings.TrimSpace(section); section == "" {
		return "", errors.New("CHANGELOG.md says nothing of " + version)
	}
	return section + "\n", nil
}
