// Package telemetry turns the events of calls into the metrics that abi/telemetry.json
// names, for every host in Go alike: the tool's file, Prometheus and OpenTelemetry.
package telemetry

// Type is a metric's.
type Type string

// The types, as Prometheus names them.
const (
	Counter   Type = "counter"
	Gauge     Type = "gauge"
	Histogram Type = "histogram"
)

// Metric is one of the metrics. A series of it has the policy's name as its label
// policy, and then one value for each of Labels.
type Metric struct {
	Name    string
	Type    Type
	Labels  []string  // beside policy; and, of the tool, command
	Buckets []float64 // of a histogram, upwards
	Help    string
}

// The metrics.
var (
	Calls = &Metric{
		Name: "outlast_calls_total", Type: Counter, Labels: []string{"outcome", "kind"},
		Help: "Calls that ended, by how and by the kind of their last failure.",
	}
	Attempts = &Metric{
		Name: "outlast_attempts_total", Type: Counter, Labels: []string{"ok"},
		Help: "Attempts that ended.",
	}
	Retries = &Metric{
		Name: "outlast_retries_total", Type: Counter, Labels: []string{"kind", "budget"},
		Help: "Waits before a retry; a wait that goes on counts once.",
	}
	Wakes = &Metric{
		Name: "outlast_wakes_total", Type: Counter,
		Help: "Waits that the server's return cut short.",
	}
	VainWakes = &Metric{
		Name: "outlast_vain_wakes_total", Type: Counter,
		Help: "Of these, those whose attempt then failed in a way that was waited for again.",
	}
	Wait = &Metric{
		Name: "outlast_wait_seconds_total", Type: Counter,
		Help: "Time waited, from the end of one attempt to the start of the next.",
	}
	// The buckets are closest about the restarts that were measured, which took 52
	// and 61 s; 150 s is the built-in window. The small ones are a choice.
	RetriedCall = &Metric{
		Name: "outlast_retried_call_seconds", Type: Histogram, Labels: []string{"outcome"},
		Buckets: []float64{0.1, 0.5, 1, 2, 5, 10, 20, 30, 40, 50, 60, 70, 80, 100, 120, 150, 180, 300},
		Help:    "How long calls took that did not succeed at once.",
	}
	BudgetUsed = &Metric{
		Name: "outlast_budget_used_ratio", Type: Histogram,
		Buckets: []float64{0.1, 0.25, 0.5, 0.75, 0.9, 1},
		Help:    "Share of its window that a call which waited had used when it ended, of the fullest of its budgets.",
	}
	InstancesReplaced = &Metric{
		Name: "outlast_instances_replaced_total", Type: Counter,
		Help: "Instances of the plugin that failed and were replaced.",
	}
	PolicySerial = &Metric{
		Name: "outlast_policy_serial", Type: Gauge,
		Help: "The serial of the followed policy in force; 0: the one that comes with outlast.",
	}
	PolicyExpires = &Metric{
		Name: "outlast_policy_expires_timestamp_seconds", Type: Gauge,
		Help: "Until when the policy in force may be pulled, in seconds since 1970; 0: for ever.",
	}
)

// All are the metrics that every host has.
var All = []*Metric{
	Calls, Attempts, Retries, Wakes, VainWakes, Wait, RetriedCall, BudgetUsed, InstancesReplaced, PolicySerial, PolicyExpires,
}
