package metrics

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
)

// stateMark begins the first line of a file, which has the counts for the next
// run to add to. For Prometheus it is a comment.
const stateMark = "# outlast 2 "

// earlierMark is that of files whose counts had other names and fewer labels.
const earlierMark = "# outlast 1 "

// state is that line's JSON.
type state struct {
	SHA256 string `json:"sha256"` // of the text below
	Counts counts `json:"counts"`
}

// format is a file's text.
func format(c counts) ([]byte, error) {
	text := c.text()
	line, err := json.Marshal(state{digest(text), c})
	return []byte(stateMark + string(line) + "\n" + text), err
}

// parse reads a file that format wrote. A file that was changed since is refused:
// what was added to it would be lost.
func parse(text string) (counts, error) {
	if text == "" {
		return counts{}, nil
	}
	if strings.HasPrefix(text, earlierMark) {
		return nil, errors.New("it has the names that metrics had before version 0.1.0: move it away, and the next run begins a new one")
	}
	line, text, _ := strings.Cut(text, "\n")
	line, ok := strings.CutPrefix(line, stateMark)
	if !ok {
		return nil, errors.New("its first line is not outlast's")
	}
	var s state
	if err := json.Unmarshal([]byte(line), &s); err != nil {
		return nil, err
	}
	if s.SHA256 != digest(text) {
		return nil, errors.New("it was changed by hand, or cut")
	}
	return s.Counts, nil
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
