package metrics

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// labels are those of the counters.
type labels struct{ Command, Kind, Outcome, Policy string }

// pair are the labels of a tally.
type pair struct{ Command, Policy string }

// call is what one call adds.
type call struct {
	labels
	attempts int64
	waitUS   int64
	outageUS *int64 // nil: the server was not away
	at       int64  // in seconds since 1970
	serial   int64  // of the policy; 0: it is not followed
}

// counts is the content of a file.
type counts struct {
	totals  map[labels]*[len(counters)]int64
	tallies map[pair]*tally
}

// tally is what is counted for each command and policy. Buckets[i] counts the outages
// above bounds[i-1] and up to bounds[i], and the last those above all bounds.
type tally struct {
	Buckets [len(bounds) + 1]int64
	SumUS   int64 // of the outages
	Last    int64 // when the last call ended, in seconds since 1970
	Serial  int64 `json:",omitempty"` // of the policy that it went by; 0: it is not followed
}

// bounds of the buckets, in seconds. They are closest about the restarts that
// were measured, which took 52 and 61 s, and 150 s is the built-in window.
var bounds = [...]int64{1, 2, 5, 10, 20, 30, 40, 50, 55, 60, 65, 70, 80, 100, 120, 150, 180, 300}

// maxSeries bounds the sets of labels in a file (a choice: a server's load
// grows with it, and commands with random names would fill the disk). Further
// ones are counted together.
const maxSeries = 1000

// other stands for the labels of those.
const other = "other"

// maxValue is the largest number that is exact in what reads the file.
const maxValue = 1<<53 - 1

func newCounts() *counts {
	return &counts{totals: map[labels]*[len(counters)]int64{}, tallies: map[pair]*tally{}}
}

func (c *counts) add(one call) {
	if c.totals[one.labels] == nil && len(c.totals) >= maxSeries {
		one.labels = labels{other, other, one.Outcome, other}
	}
	t := c.totals[one.labels]
	if t == nil {
		t = new([len(counters)]int64)
		c.totals[one.labels] = t
	}
	for i, n := range [...]int64{calls: 1, attempts: one.attempts, retries: max(0, one.attempts-1), waits: one.waitUS} {
		increase(&t[i], n)
	}
	p := pair{one.Command, one.Policy}
	if c.tallies[p] == nil { // from the first call on, so that an increase from 0 is seen
		c.tallies[p] = new(tally)
	}
	c.tallies[p].Last = max(c.tallies[p].Last, min(one.at, maxValue))
	c.tallies[p].Serial = min(one.serial, maxValue)
	if one.outageUS != nil {
		c.tallies[p].add(*one.outageUS)
	}
}

func (t *tally) add(us int64) {
	i, _ := slices.BinarySearchFunc(bounds[:], us, func(bound, us int64) int { return cmp.Compare(bound*second, us) })
	if t.count() < maxValue {
		t.Buckets[i]++
	}
	increase(&t.SumUS, us)
}

func (t *tally) count() (n int64) {
	for _, b := range t.Buckets {
		n += b
	}
	return n
}

// increase adds n, and stops at the largest number.
func increase(total *int64, n int64) { *total += min(n, maxValue-*total) }

const second = 1_000_000 // microseconds

// counter is one of the counters' families.
type counter struct {
	name, help string
	seconds    bool // it is kept in microseconds
}

// The counters, by their place.
const (
	calls = iota
	attempts
	retries
	waits
)

var counters = [...]counter{
	calls:    {name: "outlast_calls_total", help: "Calls, by how they ended and by the kind of their last failure."},
	attempts: {name: "outlast_attempts_total", help: "Attempts of these calls."},
	retries:  {name: "outlast_retries_total", help: "Attempts after the first."},
	waits:    {name: "outlast_wait_seconds_total", help: "Time waited between attempts.", seconds: true},
}

const (
	outageName = "outlast_outage_seconds"
	outageHelp = "For how long a call found the server away, of the calls that did."
	lastName   = "outlast_last_run_timestamp_seconds"
	lastHelp   = "When the last call ended, in seconds since 1970."
	serialName = "outlast_run_policy_serial"
	serialHelp = "The serial of the policy that the last call went by; 0: it is not followed."
)

// text is what Prometheus reads, in an order that depends on its content only.
func (c *counts) text() string {
	var b strings.Builder
	all := c.sortedTotals()
	for i, family := range counters {
		head(&b, family.name, family.help, "counter")
		for _, l := range all {
			value := strconv.FormatInt(c.totals[l][i], 10)
			if family.seconds {
				value = decimal(c.totals[l][i])
			}
			sample(&b, family.name, value, "command", l.Command, "kind", l.Kind, "outcome", l.Outcome, "policy", l.Policy)
		}
	}
	head(&b, outageName, outageHelp, "histogram")
	for _, p := range c.sortedPairs() {
		c.tallies[p].write(&b, p)
	}
	head(&b, serialName, serialHelp, "gauge")
	for _, p := range c.sortedPairs() {
		sample(&b, serialName, strconv.FormatInt(c.tallies[p].Serial, 10), "command", p.Command, "policy", p.Policy)
	}
	head(&b, lastName, lastHelp, "gauge")
	for _, p := range c.sortedPairs() {
		sample(&b, lastName, strconv.FormatInt(c.tallies[p].Last, 10), "command", p.Command, "policy", p.Policy)
	}
	return b.String()
}

func (c *counts) sortedTotals() []labels {
	return slices.SortedFunc(maps.Keys(c.totals), func(x, y labels) int {
		return cmp.Or(cmp.Compare(x.Command, y.Command), cmp.Compare(x.Policy, y.Policy), cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.Outcome, y.Outcome))
	})
}

func (c *counts) sortedPairs() []pair {
	return slices.SortedFunc(maps.Keys(c.tallies), func(x, y pair) int {
		return cmp.Or(cmp.Compare(x.Command, y.Command), cmp.Compare(x.Policy, y.Policy))
	})
}

func (t *tally) write(b *strings.Builder, p pair) {
	total := int64(0)
	for i, n := range t.Buckets {
		total += n
		sample(b, outageName+"_bucket", strconv.FormatInt(total, 10), "command", p.Command, "policy", p.Policy, "le", upTo(i))
	}
	sample(b, outageName+"_sum", decimal(t.SumUS), "command", p.Command, "policy", p.Policy)
	sample(b, outageName+"_count", strconv.FormatInt(total, 10), "command", p.Command, "policy", p.Policy)
}

// upTo is the label of a bucket's bound.
func upTo(i int) string {
	if i == len(bounds) {
		return "+Inf"
	}
	return strconv.FormatInt(bounds[i], 10)
}

func head(b *strings.Builder, name, help, kind string) {
	b.WriteString("# HELP " + name + " " + help + "\n# TYPE " + name + " " + kind + "\n")
}

var escape = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)

// sample writes a number and its labels, each a name and its value.
func sample(b *strings.Builder, name, value string, labels ...string) {
	b.WriteString(name)
	before := "{"
	for i := 0; i < len(labels); i += 2 {
		b.WriteString(before + labels[i] + `="` + escape.Replace(labels[i+1]) + `"`)
		before = ","
	}
	b.WriteString("} " + value + "\n")
}

// decimal are microseconds in seconds, exactly.
func decimal(us int64) string {
	text := strconv.FormatInt(us/second, 10)
	if rest := us % second; rest != 0 {
		text += "." + strings.TrimRight(strconv.FormatInt(second+rest, 10)[1:], "0")
	}
	return text
}
