package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// proofFile holds the digest of the source in which every mutant was found out.
// It is committed, and a test compares it with the source, so that minutes of
// trying mutants are spent when the policy or its tests change, and not each time.
const proofFile = "tests/mutation/proof.sha256"

// proved are the folders and files that decide what a mutant does: the policy, which is
// changed, with its tests, what it is made of, and the mutants themselves.
var proved = []string{folder, "abi/fields", "abi/strictjson", "abi", "tests/mutation/mutant.go", "tests/mutation/mutants.go"}

// digest is that of the proved files, by name and content.
func digest(root string) (string, error) {
	sum := sha256.New()
	for _, dir := range proved {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir():
				return skipNested(root, dir, path)
			case !decides(entry.Name()):
				return nil
			}
			text, err := os.ReadFile(path)
			name, _ := filepath.Rel(root, path)
			fmt.Fprintf(sum, "%s %d\n%s", filepath.ToSlash(name), len(text), text)
			return err
		})
		if err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(sum.Sum(nil)) + "\n", nil
}

// skipNested leaves out the contract's other folders: abi stands for its own files.
func skipNested(root, dir, path string) error {
	if dir == "abi" && path != filepath.Join(root, dir) {
		return fs.SkipDir
	}
	return nil
}

// decides says whether a file is source, a built-in document or a test's data.
func decides(name string) bool {
	return strings.HasSuffix(name, ".go") || strings.HasSuffix(name, ".json") || strings.HasSuffix(name, ".jsonl")
}
