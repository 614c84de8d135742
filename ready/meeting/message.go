package meeting

import (
	"bytes"
	"errors"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"
)

// MaxLine is the longest line, in bytes with its line feed.
const MaxLine = 64

// Levels are the words for what is seen of a server; none for who saw nothing yet.
var (
	Levels = []string{"unanswered", "down", "loading", "unready", "accepting", "ready"}
	Unseen = "unseen"
)

// grammar has what follows each word: one of a list, or a number up to a bound, which
// is an int64 since a term and a time need that many bits on every machine.
var grammar = map[string][]any{
	"wait": {maxID, rises, append(slices.Clone(Levels), Unseen), []string{"eager", "seldom"}},
	"go":   {maxID},
	"done": {maxID, []string{"answered", "failed", "left"}},
	"ask":  {},
	"here": {Levels, maxTerm},
	"turn": {maxID, rises, maxTerm},
	"full": {},
}

const maxID int64 = 1<<31 - 1 // of a call

var rises = []string{"accepting", "ready"}

var errBad = errors.New("no line of the protocol")

// Parse is the words of a line, if it is one of the protocol.
func Parse(line string) ([]string, error) {
	words := strings.Split(line, " ")
	rest, known := grammar[words[0]]
	if !known || len(words) != len(rest)+1 {
		return nil, errBad
	}
	for i, word := range words[1:] {
		switch is := rest[i].(type) {
		case int64:
			n, err := strconv.ParseInt(word, 10, 64)
			if err != nil || n < 0 || n > is || strconv.FormatInt(n, 10) != word {
				return nil, errBad
			}
		case []string:
			if !slices.Contains(is, word) {
				return nil, errBad
			}
		}
	}
	return words, nil
}

// Until is a time of a line, on the clock of Boot.
func Until(word string) time.Duration {
	n, _ := strconv.ParseInt(word, 10, 64) // it was parsed
	return time.Duration(n) * time.Microsecond
}

// Time is a time for a line.
func Time(until time.Duration) string { return strconv.FormatInt(until.Microseconds(), 10) }

// Conn says and hears lines.
type Conn struct {
	*net.UnixConn
	heard []byte
}

// Hear is the words of the next line. After a time-out nothing is lost, and it may
// be called again.
func (c *Conn) Hear() ([]string, error) {
	for {
		if line, rest, whole := bytes.Cut(c.heard, []byte("\n")); whole {
			words, err := Parse(string(line))
			c.heard = append(c.heard[:0], rest...)
			return words, err
		}
		if len(c.heard) >= MaxLine {
			return nil, errBad
		}
		var buffer [MaxLine]byte
		n, err := c.Read(buffer[:MaxLine-len(c.heard)])
		c.heard = append(c.heard, buffer[:n]...)
		if err != nil {
			return nil, err
		}
	}
}

// Say says a line, or ends the connection: it never waits for who does not listen.
func (c *Conn) Say(words ...string) {
	if c.put(strings.Join(words, " ")+"\n") != nil {
		c.Close()
	}
}
