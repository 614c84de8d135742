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
const stateMark = "# outlast 1 "

// state is that line's JSON.
type state struct {
	SHA256  string `json:"sha256"` // of the text below
	Totals  []totalOf
	Tallies []tallyOf
}

type totalOf struct {
	labels
	Counters [len(counters)]int64
}

type tallyOf struct {
	pair
	tally
}

// format is a file's text.
func format(c *counts) ([]byte, error) {
	text := c.text()
	s := state{SHA256: digest(text)}
	for _, l := range c.sortedTotals() {
		s.Totals = append(s.Totals, totalOf{l, *c.totals[l]})
	}
	for _, p := range c.sortedPairs() {
		s.Tallies = append(s.Tallies, tallyOf{p, *c.tallies[p]})
	}
	line, err := json.Marshal(s)
	return []byte(stateMark + string(line) + "\n" + text), err
}

// parse reads a file that format wrote. A file that was changed since is refused:
// what was added to it would be lost.
func parse(text string) (*counts, error) {
	c := newCounts()
	if text == "" {
		return c, nil
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
	for _, t := range s.Totals {
		c.totals[t.labels] = &t.Counters
	}
	for _, o := range s.Tallies {
		c.tallies[o.pair] = &o.tally
	}
	return c, nil
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
