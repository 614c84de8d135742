package record

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"time"

	"outlast/abi"
	"outlast/cmd/outlast/internal/aside"
	"outlast/cmd/outlast/internal/safetext"
	"outlast/cmd/outlast/internal/wholefile"
	"outlast/internal/progress"
)

// What the report's outcome is beside a policy's.
const (
	outcomeNotRun = "not_run" // no attempt was made
	outcomeError  = "error"   // it came to no outcome: the plugin failed, or an attempt could not be made
)

// report is the object in the file. Times are microseconds.
type report struct {
	Version   int       `json:"version"`
	Run       string    `json:"run"`
	Started   string    `json:"started"`
	Command   string    `json:"command,omitempty"`
	Call      callPart  `json:"call"`
	Policy    digested  `json:"policy"`
	Plugin    *digested `json:"plugin,omitempty"`
	Outcome   string    `json:"outcome"`
	Kind      string    `json:"kind,omitempty"`
	Effects   string    `json:"effects,omitempty"`
	Reason    string    `json:"reason,omitempty"`
	Budget    string    `json:"budget,omitempty"`
	Message   string    `json:"message,omitempty"`
	Remedy    string    `json:"remedy,omitempty"`
	Error     string    `json:"error,omitempty"`
	ExitCode  int       `json:"exit_code"`
	ElapsedUS int64     `json:"elapsed_us"`
	WaitedUS  int64     `json:"waited_us"`
	Repairs   int64     `json:"repairs"`
	Budgets   []budget  `json:"budgets"`
	Attempts  []attempt `json:"attempts"`
}

// attempt is one attempt. Its times count from the call's start.
type attempt struct {
	Attempt   int64  `json:"attempt"`
	StartedUS *int64 `json:"started_us,omitempty"`
	EndedUS   int64  `json:"ended_us"`
	OK        bool   `json:"ok"`
	ExitCode  *int64 `json:"exit_code,omitempty"`
	Signal    string `json:"signal,omitempty"`
	TimedOut  bool   `json:"timed_out,omitempty"`
	Streamed  bool   `json:"streamed,omitempty"`
	Kind      string `json:"kind,omitempty"`
	Budget    string `json:"budget,omitempty"`
}

// budget is what the call has spent of one, and what the policy allows.
type budget struct {
	Name        string `json:"name"`
	MaxWaitUS   int64  `json:"max_wait_us,omitempty"`
	MaxAttempts int64  `json:"max_attempts,omitempty"`
	Attempts    int64  `json:"attempts"` // that failed and count on it
	WaitedUS    int64  `json:"waited_us"`
}

type callPart struct {
	Label    string `json:"label,omitempty"`
	Read     bool   `json:"read"`
	Remote   bool   `json:"remote"`
	BudgetUS int64  `json:"budget_us,omitempty"`
}

type digested struct {
	Name   string `json:"name,omitempty"`
	Digest string `json:"digest"`
}

// reportVersion changes when a member changes its meaning or goes.
const reportVersion = 1

func (r *Recorder) describe(end *End) *report {
	o, s := &r.options, r.options.Progress
	out := &report{
		Version: reportVersion, Run: r.run, Started: r.began.UTC().Format(time.RFC3339Nano), Command: safetext.Line(o.Command),
		Call:    callPart{Label: safetext.Line(o.Call.Label), Read: o.Call.Read, Remote: o.Call.Remote, BudgetUS: o.Call.Budget.Microseconds()},
		Policy:  digested{Name: o.Policy.Name(), Digest: o.Policy.Digest()},
		Outcome: outcomeNotRun, ExitCode: end.ExitCode, Repairs: s.Repairs,
		WaitedUS: s.Waited().Microseconds(), Budgets: budgets(s, o.Policy.Document()), Attempts: attempts(s),
	}
	if o.PluginDigest != "" {
		out.Plugin = &digested{Digest: o.PluginDigest}
	}
	if s.Started > 0 {
		out.ElapsedUS = since(s, s.Finished)
	}
	if end.Err != nil {
		out.Error = safetext.Error(end.Err)
	}
	r.ending(out, end)
	return out
}

// since is a time on the call's clock from the call's start, in microseconds.
func since(s *progress.State, at time.Duration) int64 {
	return max(0, at.Microseconds()-s.Started.Microseconds())
}

func attempts(s *progress.State) []attempt {
	list := []attempt{}
	for i := range s.Attempts {
		a := &s.Attempts[i]
		one := attempt{
			Attempt: a.Number, EndedUS: since(s, a.Ended), OK: a.OK, ExitCode: a.ExitCode, Signal: a.Signal,
			TimedOut: a.TimedOut, Streamed: a.Streamed, Kind: a.Kind, Budget: a.Budget,
		}
		if a.Started != nil {
			one.StartedUS = wire(since(s, *a.Started))
		}
		list = append(list, one)
	}
	return list
}

func budgets(s *progress.State, document string) []budget {
	list, limits := []budget{}, limitsOf(document)
	for _, b := range s.Budgets {
		limit := limits[b.Name]
		list = append(list, budget{b.Name, limit.maxWaitUS, limit.Attempts, b.Attempts, b.Waited.Microseconds()})
	}
	return list
}

// ending fills in the outcome. Without one, a write that was attempted may have
// been applied.
func (r *Recorder) ending(out *report, end *End) {
	switch o := end.Outcome; {
	case o != nil:
		out.Outcome, out.Kind, out.Reason, out.Budget = string(o.Type), o.Kind, o.Reason, o.Budget
		out.Message, out.Remedy, out.ElapsedUS = safetext.Line(o.Message), safetext.Line(o.Remedy), o.ElapsedUS
		if o.Type != abi.OutcomeOK { // an applied write has effects, but they are no news
			out.Effects = string(o.Effects)
		}
	case len(r.options.Progress.Attempts) == 0:
		out.Effects = string(abi.EffectsNone)
	default:
		out.Outcome, out.Effects = outcomeError, string(abi.EffectsUnknown)
		if r.options.Call.Read {
			out.Effects = string(abi.EffectsNone)
		}
	}
}

// limit is what a policy allows on one budget.
type limit struct {
	MaxWait   string `json:"max_wait"`
	Attempts  int64  `json:"attempts"`
	maxWaitUS int64
}

// limitsOf reads them from a policy's normal form.
func limitsOf(document string) map[string]limit {
	var policy struct {
		Budgets map[string]limit `json:"budgets"`
	}
	if err := json.Unmarshal([]byte(document), &policy); err != nil {
		panic(err) // it was written from a policy that has been checked
	}
	for name, l := range policy.Budgets {
		if d, err := time.ParseDuration(l.MaxWait); err == nil {
			l.maxWaitUS = d.Microseconds()
			policy.Budgets[name] = l
		}
	}
	return policy.Budgets
}

// reportFile is where the report goes: a file that it replaces, or what takes
// bytes and cannot be replaced, such as a pipe.
type reportFile struct {
	target string
	open   *eventFile
}

func openReport(path string) (*reportFile, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		open, err := openEvents(path)
		return &reportFile{open: open}, err
	}
	target, err := aside.Do(aside.AtExit, func() (string, error) { return wholefile.Target(path) })
	return &reportFile{target: target}, err
}

func (f *reportFile) write(r *report) error {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(r); err != nil {
		return err
	}
	if f.open != nil {
		_, err := f.open.out.Write(b.Bytes())
		return cmp.Or(err, f.open.close())
	}
	_, err := aside.Do(aside.AtExit, func() (any, error) { return nil, wholefile.Replace(f.target, b.Bytes(), 0o600) })
	return err
}
