package journal

import (
	"path/filepath"
	"regexp"
	"strings"
)

// Command is the command line with which a person looks at a record of the journal at
// dir, or settles it, such as "outlast journal show --journal DIR ID". It can be
// copied into a shell, whatever is the working directory there; without a record it is
// about the whole journal.
func Command(dir, verb, id string) string {
	if whole, err := filepath.Abs(dir); err == nil {
		dir = whole
	}
	words := []string{"outlast journal", verb, "--journal", quoted(dir)}
	if id != "" {
		words = append(words, id)
	}
	return strings.Join(words, " ")
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:@%+=,-]+$`)

// quoted is a word as a shell reads it.
func quoted(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
