package metrics

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// parse reads a file that this package wrote, also an older version of it with
// fewer families. Anything else is an error that names the line, since a line that is
// not understood would be lost.
func parse(text string) (*counts, error) {
	if text != "" && !strings.HasSuffix(text, "\n") {
		return nil, errors.New("its last line is not complete")
	}
	if !utf8.ValidString(text) {
		return nil, errors.New("it is not UTF-8")
	}
	p := parser{counts: newCounts(), seen: map[string]bool{}, histograms: map[pair]*histogramLines{}}
	n := 0
	for line := range strings.Lines(text) {
		n++
		if err := p.line(strings.TrimSuffix(line, "\n")); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	return p.counts, p.finish()
}

type parser struct {
	counts     *counts
	seen       map[string]bool
	histograms map[pair]*histogramLines
}

// histogramLines is what a histogram's lines say.
type histogramLines struct {
	cumulative [len(bounds) + 1]int64
	found      int // of these, which come in their order
	sumUS      int64
	count      int64
	others     int // whether the sum and the count were there
}

func (p *parser) line(line string) error {
	if strings.HasPrefix(line, "#") {
		return comment(line)
	}
	name, names, values, number, ok := split(line)
	if !ok || !strings.HasPrefix(line, series(name, names, values)+" ") {
		return errors.New(`expected name{label="value",…} number, as outlast writes it`)
	}
	of := strings.TrimSuffix(line, number)
	if p.seen[of] {
		return errors.New("it is there twice")
	}
	p.seen[of] = true
	if i := slices.IndexFunc(counters[:], func(c counter) bool { return c.name == name }); i >= 0 {
		return p.counter(i, names, values, number)
	}
	return p.other(name, names, values, number)
}

func (p *parser) counter(i int, names, values []string, number string) error {
	if err := named(names, "command", "kind", "outcome", "policy"); err != nil {
		return err
	}
	n, err := integer(number)
	if counters[i].seconds {
		n, err = micros(number)
	}
	l := labels{values[0], values[1], values[2], values[3]}
	if p.counts.totals[l] == nil {
		p.counts.totals[l] = new([len(counters)]int64)
	}
	p.counts.totals[l][i] = n
	return err
}

func (p *parser) other(name string, names, values []string, number string) (err error) {
	want := []string{"command", "policy"}
	if name == outageName+"_bucket" {
		want = append(want, "le")
	}
	if err := named(names, want...); err != nil {
		return err
	}
	of := pair{values[0], values[1]}
	h := p.histograms[of]
	if h == nil {
		h = new(histogramLines)
	}
	switch name {
	case lastName:
		p.counts.last[of], err = integer(number)
		return err
	case outageName + "_bucket":
		if h.found > len(bounds) || values[2] != upTo(h.found) {
			return fmt.Errorf("the bucket %q is not expected here", values[2])
		}
		h.cumulative[h.found], err = integer(number)
		h.found++
	case outageName + "_sum":
		h.sumUS, err = micros(number)
		h.others++
	case outageName + "_count":
		h.count, err = integer(number)
		h.others++
	default:
		return fmt.Errorf("there is no %s here", name)
	}
	p.histograms[of] = h
	return err
}

// finish sees whether the histograms are whole.
func (p *parser) finish() error {
	for of, r := range p.histograms {
		if r.found != len(r.cumulative) || r.others != 2 {
			return fmt.Errorf("%s of %s is not complete", outageName, of.command)
		}
		h := &histogram{sumUS: r.sumUS}
		below := int64(0)
		for i, n := range r.cumulative {
			h.buckets[i] = n - below
			if n < below {
				return fmt.Errorf("%s of %s falls", outageName, of.command)
			}
			below = n
		}
		if below != r.count {
			return fmt.Errorf("%s of %s has another count than its buckets", outageName, of.command)
		}
		p.counts.outages[of] = h
	}
	return nil
}

// comment accepts the two kinds of comment that this package writes.
func comment(line string) error {
	kinds := map[string]string{outageName: "histogram", lastName: "gauge"}
	for _, c := range counters {
		kinds[c.name] = "counter"
	}
	word, rest, _ := strings.Cut(strings.TrimPrefix(line, "# "), " ")
	name, what, _ := strings.Cut(rest, " ")
	if kinds[name] == "" || word != "HELP" && (word != "TYPE" || what != kinds[name]) {
		return errors.New("it is no comment of outlast's")
	}
	return nil
}

// split takes a sample apart: name{label="value",…} number. It lets some pass
// that is not quite that.
func split(line string) (name string, names, values []string, number string, ok bool) {
	name, rest, ok := strings.Cut(line, "{")
	for ok && !strings.HasPrefix(rest, "}") {
		var label, value string
		if label, rest, ok = strings.Cut(rest, `="`); !ok {
			break
		}
		if value, rest, ok = quoted(rest); !ok {
			break
		}
		names, values = append(names, label), append(values, value)
		rest = strings.TrimPrefix(rest, ",")
	}
	if ok {
		number, ok = strings.CutPrefix(rest, "} ")
	}
	return name, names, values, number, ok
}

// quoted takes a value, whose first quote is gone, from s.
func quoted(s string) (value, rest string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			return b.String(), s[i+1:], true
		case '\\':
			i++
			escaped := strings.IndexByte(`\"n`, s[min(i, len(s)-1)])
			if i == len(s) || escaped < 0 {
				return "", "", false
			}
			b.WriteByte("\\\"\n"[escaped])
		default:
			b.WriteByte(s[i])
		}
	}
	return "", "", false
}

func named(got []string, want ...string) error {
	if !slices.Equal(got, want) {
		return fmt.Errorf("it has the labels %q, and not %q", got, want)
	}
	return nil
}

// integer reads a whole number from 0 to 2^53-1, as this package writes it.
func integer(s string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || n > maxValue || strconv.FormatInt(n, 10) != s {
		return 0, fmt.Errorf("expected a whole number, not %q", s)
	}
	return n, nil
}

// micros reads seconds with up to six decimals, as this package writes them.
func micros(s string) (int64, error) {
	whole, fraction, _ := strings.Cut(s, ".")
	n, err := integer(whole)
	if err == nil && n <= maxValue/second && len(fraction) <= 6 {
		var part int64
		part, _ = strconv.ParseInt((fraction + "000000")[:6], 10, 64)
		if us := n*second + part; part >= 0 && us <= maxValue && decimal(us) == s {
			return us, nil
		}
	}
	return 0, fmt.Errorf("expected a number of seconds, not %q", s)
}
