package metrics

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"outlast/internal/telemetry"
)

// The metrics that only the tool has.
var (
	// The buckets are closest about the restarts that were measured, which took 52 and
	// 61 s, and 150 s is the built-in window.
	outages = &telemetry.Metric{
		Name: "outlast_outage_seconds", Type: telemetry.Histogram,
		Buckets: []float64{1, 2, 5, 10, 20, 30, 40, 50, 55, 60, 65, 70, 80, 100, 120, 150, 180, 300},
		Help:    "For how long a call found the server away, of the calls that did.",
	}
	lastRun = &telemetry.Metric{
		Name: "outlast_last_run_timestamp_seconds", Type: telemetry.Gauge,
		Help: "When the last call ended, in seconds since 1970.",
	}
)

// families are the metrics of a file, in its order.
var families = append(slices.Clone(telemetry.All), outages, lastRun)

// counts is the content of a file: the series of each metric, by its name and the
// values of its labels.
type counts map[string]map[labels]*series

// labels are those of a series: the policy, the command, and the metric's own. JSON
// has them in one string, and a control character is in none of them.
type labels string

const between = "\x1f"

// series is what is counted for one set of labels. Sum is exact: in millionths where
// it need not be whole. Buckets[i] counts what is above the bound i-1 and up to the bound i, and the
// last what is above all bounds; a counter and a gauge have none.
type series struct {
	Sum     int64
	Buckets []int64 `json:",omitempty"`
}

// maxSeries bounds the series of a metric (a choice: a server's load grows with
// it, and commands with random names would fill the disk). Further ones are counted
// together.
const maxSeries = 500

// other stands for the labels of those.
const other = "other"

const (
	millionths = 1_000_000

	// maxValue is the largest number that is exact in what reads the file.
	maxValue = 1<<53 - 1
)

// take adds a value to a series, or sets it.
func (c counts) take(m *telemetry.Metric, value float64, of ...string) {
	s, n := c.of(m, of), int64(min(math.Round(value*scale(m)), maxValue))
	switch {
	case m == lastRun: // a run that ends first may be the second to add
		s.Sum = max(s.Sum, n)
	case m.Type == telemetry.Gauge:
		s.Sum = n
	default:
		s.Sum += min(n, maxValue-s.Sum)
	}
	if m.Type == telemetry.Histogram && s.count() < maxValue {
		i, _ := slices.BinarySearch(m.Buckets, float64(n)/millionths)
		s.Buckets[i]++
	}
}

// scale is what a metric's values are multiplied with to be whole.
func scale(m *telemetry.Metric) float64 {
	if m == telemetry.Wait || m.Type == telemetry.Histogram {
		return millionths
	}
	return 1
}

// of is the series of a metric for the values of its labels. A new one begins at 0.
func (c counts) of(m *telemetry.Metric, values []string) *series {
	all := c[m.Name]
	if all == nil {
		all = map[labels]*series{}
		c[m.Name] = all
	}
	l := labels(strings.Join(values, between))
	if all[l] == nil && len(all) >= maxSeries {
		l = labels(strings.Join(together(m, values), between))
	}
	if all[l] == nil {
		all[l] = &series{}
		if len(m.Buckets) > 0 {
			all[l].Buckets = make([]int64, len(m.Buckets)+1)
		}
	}
	return all[l]
}

// together are the labels of what is counted together: how it ended is still told.
func together(m *telemetry.Metric, values []string) []string {
	values = slices.Clone(values)
	for i, name := range names(m) {
		if name != "outcome" && name != "ok" {
			values[i] = other
		}
	}
	return values
}

// names are those of a metric's labels.
func names(m *telemetry.Metric) []string { return append([]string{"policy", "command"}, m.Labels...) }

func (s *series) count() (n int64) {
	for _, b := range s.Buckets {
		n += b
	}
	return n
}

// text is what Prometheus reads, in an order that depends on its content only.
func (c counts) text() string {
	var b strings.Builder
	for _, m := range families {
		if len(c[m.Name]) == 0 {
			continue
		}
		head(&b, m.Name, m.Help, string(m.Type))
		for _, l := range slices.Sorted(maps.Keys(c[m.Name])) {
			c[m.Name][l].write(&b, m, pairs(m, l))
		}
	}
	return b.String()
}

// pairs are a series' labels, each a name and its value.
func pairs(m *telemetry.Metric, l labels) (list []string) {
	values := strings.Split(string(l), between)
	for i, name := range names(m) {
		list = append(list, name, values[i])
	}
	return list
}

func (s *series) write(b *strings.Builder, m *telemetry.Metric, labels []string) {
	if m.Type != telemetry.Histogram {
		value := strconv.FormatInt(s.Sum, 10)
		if scale(m) != 1 {
			value = decimal(s.Sum)
		}
		sample(b, m.Name, value, labels...)
		return
	}
	total := int64(0)
	for i, n := range s.Buckets {
		upTo := "+Inf"
		if i < len(m.Buckets) {
			upTo = strconv.FormatFloat(m.Buckets[i], 'g', -1, 64)
		}
		total += n
		sample(b, m.Name+"_bucket", strconv.FormatInt(total, 10), append(labels[:len(labels):len(labels)], "le", upTo)...)
	}
	sample(b, m.Name+"_sum", decimal(s.Sum), labels...)
	sample(b, m.Name+"_count", strconv.FormatInt(total, 10), labels...)
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

// decimal are millionths as a decimal number, exactly.
func decimal(n int64) string {
	text := strconv.FormatInt(n/millionths, 10)
	if rest := n % millionths; rest != 0 {
		text += "." + strings.TrimRight(strconv.FormatInt(millionths+rest, 10)[1:], "0")
	}
	return text
}
