// Package cases tries a policy with recorded failures and outages, of which each says
// what is expected.
package cases

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"outlast/abi"
	"outlast/abi/fields"
	"outlast/abi/strictjson"
)

// formVersion is that of the files' form.
const formVersion = 1

// maxFileBytes bounds a file (a choice: a hundred failures of the longest text).
const maxFileBytes = 8 << 20

// File is one of the files in a folder of cases.
type File struct {
	Path     string
	Policy   string // a name, or a file beside this one
	Failures []Failure
	Outages  []Outage
}

// Failure is how one attempt ended, and what a policy has to make of it.
type Failure struct {
	Name   string
	Call   abi.Call
	Result abi.Result
	Expect Decision
}

// Decision is what a policy makes of a failure. What is "" is not compared.
type Decision struct {
	Action  string // retry, repair or stop
	Kind    string
	Budget  string
	Outcome string
	Effects string
}

// Outage is a server that is away for a time, and what has to become of a call that
// meets it, with the worst jitter and whenever it begins.
type Outage struct {
	Name   string
	Call   abi.Call
	Down   abi.Result // how attempts end meanwhile
	Lasts  time.Duration
	Takes  time.Duration // that an attempt needs to fail
	Expect End
}

// End is what becomes of a call.
type End struct {
	Outcome string
	Within  time.Duration // since the server is back; 0: not compared
}

// Fields implements fields.Message.
func (f *File) Fields(l *fields.List) {
	version := int64(formVersion)
	l.Int("version", &version, formVersion, formVersion).Required()
	l.String("policy", &f.Policy, 0).Required()
	fields.Items(l, "failures", &f.Failures)
	fields.Items(l, "outages", &f.Outages)
}

// Check implements fields.Checker.
func (f *File) Check(c *fields.Checked) {
	if len(f.Failures)+len(f.Outages) == 0 {
		c.Fault("", "has neither failures nor outages")
	}
}

// Fields implements fields.Message.
func (f *Failure) Fields(l *fields.List) {
	l.String("name", &f.Name, 0).Required()
	l.Message("call", &f.Call).Required()
	l.Message("result", &f.Result).Required()
	l.Message("expect", &f.Expect).Required()
}

// Check implements fields.Checker.
func (f *Failure) Check(c *fields.Checked) { checkResult(c, "result", &f.Result) }

func checkResult(c *fields.Checked, member string, r *abi.Result) {
	if c.Has(member) && r.OK() {
		c.Fault(member, "is a success, of which a policy decides nothing")
	}
}

var actionWords = []string{"", "retry", "repair", "stop"}

// Fields implements fields.Message.
func (d *Decision) Fields(l *fields.List) {
	l.Word("action", &d.Action, actionWords).Required()
	l.String("kind", &d.Kind, 0)
	l.String("budget", &d.Budget, 0)
	l.String("outcome", &d.Outcome, 0)
	l.String("effects", &d.Effects, 0)
}

// Fields implements fields.Message.
func (o *Outage) Fields(l *fields.List) {
	l.String("name", &o.Name, 0).Required()
	l.Message("call", &o.Call).Required()
	l.Message("down", &o.Down).Required()
	l.Add("lasts", (*duration)(&o.Lasts)).Required()
	l.Add("takes", (*duration)(&o.Takes))
	l.Message("expect", &o.Expect).Required()
}

// Check implements fields.Checker.
func (o *Outage) Check(c *fields.Checked) { checkResult(c, "down", &o.Down) }

// Fields implements fields.Message.
func (e *End) Fields(l *fields.List) {
	l.String("outcome", &e.Outcome, 0).Required()
	l.Add("within", (*duration)(&e.Within))
}

// Check implements fields.Checker.
func (e *End) Check(c *fields.Checked) {
	if e.Within > 0 && e.Outcome != string(abi.OutcomeOK) {
		c.Fault("within", "needs the outcome ok: no other has to do with the server's return")
	}
}

// duration is the form of a duration with a unit.
type duration time.Duration

func (d *duration) Read(r *fields.Reader) {
	if !r.Expect(strictjson.String) {
		return
	}
	text := r.In.String()
	is, err := time.ParseDuration(text)
	if err != nil || is < time.Microsecond {
		r.Fault(`expected a positive duration with a unit, such as "52s", not ` + strictjson.Quote(text))
	}
	*d = duration(is)
}

func (d *duration) Write(w *fields.Writer)   { w.String(time.Duration(*d).String()) }
func (d *duration) IsDefault() bool          { return *d == 0 }
func (d *duration) Clear()                   { *d = 0 }
func (d *duration) Describe(a *fields.About) { a.Kind = "duration" }

// Read reads the files *.json of a folder. faults are all that is wrong with them.
func Read(dir string) (files []File, faults []string, err error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, nil, err
	}
	if len(paths) == 0 {
		return nil, nil, fmt.Errorf("there are no files *.json in %s", dir)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, nil, err
		}
		f := File{Path: path}
		bad, err := fields.Read(string(text), strictjson.Limits{Bytes: maxFileBytes, Depth: abi.MaxDepth}, fields.Strict, &f)
		if err != nil {
			bad = []strictjson.Fault{{Message: err.Error()}}
		}
		for _, fault := range bad {
			faults = append(faults, path+": "+fault.Error())
		}
		files = append(files, f)
	}
	return files, faults, nil
}
