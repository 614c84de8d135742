package conformance

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strings"
)

// Exchange is a call of an export as ABI.md quotes it, byte by byte: a block
// that is sent, blocks between the plugin and its host while run is running,
// and the block that is answered.
type Exchange struct {
	Export string
	Sent   *Block
	Calls  []HostCall
	Answer *Block
}

// HostCall is a call of a host function: what it gets, and what it gives back.
type HostCall struct {
	Function    string
	Gets, Gives *Block
}

// Block is a fenced block of the page, of one line.
type Block struct {
	Line int // counted from 1
	Text string
}

// ReadPage finds the exchanges of a page. Their fences are marked "json" and
// then "send <export>", "gets <host function>", "gives" or "answer".
func ReadPage(page []byte) ([]Exchange, error) {
	var out []Exchange
	lines := strings.Split(string(page), "\n")
	for i := 0; i < len(lines); i++ {
		words := strings.Fields(strings.TrimPrefix(lines[i], "```json "))
		if !strings.HasPrefix(lines[i], "```json ") || len(words) == 0 {
			continue
		}
		if i+2 >= len(lines) || lines[i+2] != "```" {
			return nil, fmt.Errorf("conformance: line %d: a block of more than one line", i+1)
		}
		block := &Block{Line: i + 2, Text: lines[i+1]}
		if !placed(&out, words, block) {
			return nil, fmt.Errorf("conformance: line %d: a block %q has no place here", i+1, strings.Join(words, " "))
		}
		i += 2
	}
	for i := range out {
		if out[i].Answer == nil {
			return nil, fmt.Errorf("conformance: line %d: nothing answers this", out[i].Sent.Line)
		}
	}
	return out, nil
}

// placed puts a block where it belongs, and says whether it belongs anywhere.
func placed(out *[]Exchange, words []string, block *Block) bool {
	if words[0] == "send" && len(words) == 2 {
		*out = append(*out, Exchange{Export: words[1], Sent: block})
		return true
	}
	if len(*out) == 0 || (*out)[len(*out)-1].Answer != nil {
		return false
	}
	x := &(*out)[len(*out)-1]
	waiting := len(x.Calls) > 0 && x.Calls[len(x.Calls)-1].Gives == nil
	switch {
	case words[0] == "gets" && len(words) == 2 && !waiting:
		x.Calls = append(x.Calls, HostCall{Function: words[1], Gets: block})
	case words[0] == "gives" && waiting:
		x.Calls[len(x.Calls)-1].Gives = block
	case words[0] == "answer" && !waiting:
		x.Answer = block
	default:
		return false
	}
	return true
}

// CheckPage plays a page's exchanges in their order and says where the plugin
// gives other bytes than the page.
func CheckPage(ctx context.Context, p Plugin, page []byte) []string {
	exchanges, err := ReadPage(page)
	if err != nil {
		return []string{err.Error()}
	}
	var problems []string
	for i := range exchanges {
		x := &exchanges[i]
		h := &quoted{exchange: x}
		answer, err := p.Call(ctx, x.Export, []byte(x.Sent.Text), h)
		if err != nil {
			return append(problems, fmt.Sprintf("line %d: %v", x.Sent.Line, err))
		}
		problems = append(problems, h.problems...)
		problems = append(problems, x.Answer.compare(answer)...)
		if h.next < len(x.Calls) {
			problems = append(problems, fmt.Sprintf("line %d: this is not called", x.Calls[h.next].Gets.Line))
		}
	}
	return problems
}

func (b *Block) compare(got []byte) []string {
	if b.Text == string(got) {
		return nil
	}
	return []string{fmt.Sprintf("line %d: the page has\n%s\nthe plugin gives\n%s", b.Line, b.Text, got)}
}

// quoted is a Host that gives what the page says.
type quoted struct {
	exchange *Exchange
	next     int
	problems []string
}

// Now implements Host.
func (q *quoted) Now(context.Context) []byte { return q.answer("outlast_now", []byte("{}")) }

// Sleep implements Host.
func (q *quoted) Sleep(_ context.Context, action []byte) []byte {
	return q.answer("outlast_sleep", action)
}

// Attempt implements Host.
func (q *quoted) Attempt(_ context.Context, action []byte) []byte {
	return q.answer("outlast_attempt", action)
}

func (q *quoted) answer(function string, got []byte) []byte {
	if q.next == len(q.exchange.Calls) || q.exchange.Calls[q.next].Function != function {
		q.problems = append(q.problems, fmt.Sprintf("line %d: the page does not have the call of %s with %s", q.exchange.Sent.Line, function, got))
		return nil
	}
	c := q.exchange.Calls[q.next]
	q.next++
	q.problems = append(q.problems, c.Gets.compare(got)...)
	return []byte(c.Gives.Text)
}

var stateMember = regexp.MustCompile(`"state":"([^"]*)"`)

// UpdatePage is the page with the bytes that the plugin gives. Where a state
// changes, it changes in the later blocks too, so that the exchanges still
// follow on each other.
func UpdatePage(ctx context.Context, p Plugin, page []byte) ([]byte, error) {
	for {
		exchanges, err := ReadPage(page)
		if err != nil {
			return nil, err
		}
		changed := false
		for i := range exchanges {
			x := &exchanges[i]
			h := &quoted{exchange: x}
			answer, err := p.Call(ctx, x.Export, []byte(x.Sent.Text), &correcting{quoted: h, page: &page, changed: &changed})
			if err != nil {
				return nil, err
			}
			if !changed && x.Answer.Text != string(answer) {
				page, changed = x.Answer.corrected(page, answer), true
			}
			if changed {
				break // read it again: its blocks are others now
			}
		}
		if !changed {
			return page, nil
		}
	}
}

// correcting is a quoted host that puts right the first action that differs.
type correcting struct {
	*quoted
	page    *[]byte
	changed *bool
}

// Sleep implements Host.
func (c *correcting) Sleep(ctx context.Context, action []byte) []byte {
	c.correct(action)
	return c.quoted.Sleep(ctx, action)
}

// Attempt implements Host.
func (c *correcting) Attempt(ctx context.Context, action []byte) []byte {
	c.correct(action)
	return c.quoted.Attempt(ctx, action)
}

func (c *correcting) correct(got []byte) {
	if *c.changed || c.next == len(c.exchange.Calls) {
		return
	}
	if gets := c.exchange.Calls[c.next].Gets; gets.Text != string(got) {
		*c.page, *c.changed = gets.corrected(*c.page, got), true
	}
}

// corrected is the page with other bytes in a block, and with its new state
// wherever the old one is quoted.
func (b *Block) corrected(page, has []byte) []byte {
	lines := bytes.Split(page, []byte("\n"))
	lines[b.Line-1] = has
	page = bytes.Join(lines, []byte("\n"))
	before, after := stateMember.FindStringSubmatch(b.Text), stateMember.FindSubmatch(has)
	if before != nil && after != nil {
		page = bytes.ReplaceAll(page, []byte(before[1]), after[1])
	}
	return page
}
