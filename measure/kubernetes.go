package measure

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"outlast/outages"
)

// FromKubernetes makes outages of what kubectl get pods -o json and kubectl get
// events -o json print. A workload, which is told from the names of its pods,
// is away while none of them is ready: from when the last one was asked to end, or
// its container ended, until one reports Ready.
//
// Kubernetes knows when a pod became ready only of pods that still exist, so look
// at the pods after each restart; it keeps events for an hour. A pod counts as
// ready before it was asked to end, and before its container ended after at least
// ten minutes. What is not certain is told in notes, and is no outage.
func FromKubernetes(documents []Document, tool string) (list []outages.Outage, notes []string, err error) {
	pods := podSet{}
	for _, d := range documents {
		if err := pods.read(d); err != nil {
			return nil, nil, err
		}
	}
	workloads := map[string][]*pod{}
	for _, key := range slices.Sorted(maps.Keys(pods)) {
		p := pods[key]
		p.sort()
		workloads[p.workload()] = append(workloads[p.workload()], p)
	}
	for _, name := range slices.Sorted(maps.Keys(workloads)) {
		s := sweep{name: name, pods: workloads[name], tool: tool}
		s.run()
		list = append(list, s.list...)
		notes = append(notes, s.notes...)
	}
	return list, notes, nil
}

// markKind is what is known to have happened to a pod. The order is that in
// which they count if they happened in the same second.
type markKind int

const (
	crashed   markKind = iota // a container ended, and nobody had asked it to
	scheduled                 // the pod has its node
	pulled                    // an image is there
	started                   // a container runs
	nowReady                  // it reports Ready
	unready                   // it does not any more
	killed                    // it was asked to end
)

type mark struct {
	at   time.Time
	kind markKind
}

// pod is a pod and what happened to it. One that has another of the same name
// after it has another UID.
type pod struct {
	namespace, name string
	marks           []mark
}

func (p *pod) sort() {
	slices.SortStableFunc(p.marks, compareMarks)
	p.marks = slices.Compact(p.marks) // several looks at the pods see the same
}

func compareMarks(a, b mark) int {
	if c := a.at.Compare(b.at); c != 0 {
		return c
	}
	return int(a.kind - b.kind)
}

// What the names of a workload's pods end in: a Deployment's have the hash of
// their template, which Kubernetes spells with ten letters and digits, and five
// random ones without vowels; a DaemonSet's have the latter; a StatefulSet's a
// number.
var podSuffix = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(.+?)(-[456789bcdf]{6,10})?-([bcdfghjklmnpqrstvwxz2456789]{5}|[0-9]+)$`)
})

func (p *pod) workload() string {
	name := p.name
	if m := podSuffix().FindStringSubmatch(name); m != nil {
		name = m[1]
	}
	if p.namespace == "" {
		return name
	}
	return p.namespace + "/" + name
}

// turn is a change of whether a pod is ready. One that is not known is inferred:
// a pod that was asked to end is taken to have been ready since it started.
type turn struct {
	at    time.Time // zero: before all that is known
	up    bool
	known bool
	why   markKind // of one down
	pod   *pod
}

// steady is how long a container must have run for its end to be that of a pod
// that was ready: Kubernetes, too, then forgets that it failed before. What ends
// sooner crashes while it starts.
const steady = 10 * time.Minute

// turns are a pod's, in order.
func (p *pod) turns() (out []turn) {
	up := false          // it was seen to be ready
	maybe := true        // it may have been ready, and nobody saw it
	since := time.Time{} // when it started to be so; zero: before all that is known
	down := func(m mark) {
		if !up {
			out = append(out, turn{at: since, up: true, pod: p})
		}
		out = append(out, turn{at: m.at, known: true, why: m.kind, pod: p})
	}
	for _, m := range p.marks {
		gone := up
		switch m.kind {
		case scheduled, pulled:
			maybe = false
		case started:
			maybe, since = true, m.at
		case nowReady:
			if !up {
				out = append(out, turn{at: m.at, up: true, known: true, pod: p})
			}
			up = true
		case unready: // as it is from the beginning until its containers run
			gone = up || maybe && !since.IsZero() && m.at.After(since)
		case crashed:
			gone = up || maybe && (since.IsZero() || m.at.Sub(since) >= steady)
		case killed:
			gone = up || maybe
		}
		if m.kind != crashed && m.kind != unready && m.kind != killed {
			continue
		}
		if gone {
			down(m)
		}
		up, maybe = false, false
	}
	return out
}

// sweep goes through the turns of a workload's pods.
type sweep struct {
	name  string
	pods  []*pod
	tool  string
	list  []outages.Outage
	notes []string
}

func (s *sweep) run() {
	var turns []turn
	for _, p := range s.pods {
		turns = append(turns, p.turns()...)
	}
	slices.SortStableFunc(turns, func(a, b turn) int {
		if c := a.at.Compare(b.at); c != 0 || a.pod == b.pod {
			return c
		}
		return rank(a) - rank(b)
	})
	up := map[*pod]bool{}
	var gone *turn // the turn with which an outage began
	for i := range turns {
		t := &turns[i]
		switch {
		case !t.up:
			delete(up, t.pod)
			if len(up) == 0 && gone == nil {
				gone = t
			}
			continue
		case gone != nil && t.known:
			s.record(gone, t)
		case gone != nil:
			s.note("%s went away at %s, and nothing tells when its pod %s was ready: that takes kubectl get pods -o json of the time before the next restart",
				s.name, gone.at.Format(time.RFC3339), t.pod.name)
		}
		gone = nil
		up[t.pod] = true
	}
	if gone != nil {
		s.note("%s went away at %s, and nothing tells that it was ready again", s.name, gone.at.Format(time.RFC3339))
	}
}

// rank puts what comes up before what goes down in the same second: a pod that
// is replaced by one that is ready leaves no gap.
func rank(t turn) int {
	if t.up {
		return 0
	}
	return 1
}

func (s *sweep) note(format string, args ...any) {
	s.notes = append(s.notes, fmt.Sprintf(format, args...))
}

// precision is that of Kubernetes' times: fractions of a second are cut off.
const precision = time.Second

func (s *sweep) record(gone, back *turn) {
	if !back.at.After(gone.at) {
		s.note("%s was away at %s for less than a second, the precision of Kubernetes' times", s.name, gone.at.Format(time.RFC3339))
		return
	}
	if back.at.Sub(gone.at) > outages.MaxDuration {
		s.note("%s went away at %s and was ready at %s: more than the %v that an outage may last",
			s.name, gone.at.Format(time.RFC3339), back.at.Format(time.RFC3339), outages.MaxDuration)
		return
	}
	o := outages.Outage{
		Name:     s.name + " at " + gone.at.Format(time.RFC3339),
		Duration: back.at.Sub(gone.at), Down: gone.at, Up: back.at,
		Details: &outages.Details{
			Target: "kubernetes " + s.name, Tool: s.tool,
			DownBetween: outages.Span{From: gone.at, To: gone.at.Add(precision)},
			UpBetween:   outages.Span{From: back.at, To: back.at.Add(precision)},
			Phases:      s.phases(gone, back),
		},
	}
	o.Source = fmt.Sprintf("Kubernetes, %s: pod %s %s to pod %s ready, exact to %v",
		s.name, gone.pod.name, wordsOf[gone.why], back.pod.name, o.Resolution())
	s.list = append(s.list, o)
}

var wordsOf = map[markKind]string{killed: "asked to end", crashed: "ended", unready: "not ready"}

// phases are what is known of the way from one pod to the next.
func (s *sweep) phases(gone, back *turn) (out []outages.Phase) {
	begin := map[markKind]outages.State{killed: outages.Terminating, crashed: outages.Starting, unready: outages.Unready}[gone.why]
	steps := []outages.Phase{{State: begin, Span: outages.Span{From: gone.at}}}
	step := func(state outages.State, at time.Time, found bool) {
		if found && !at.Before(steps[len(steps)-1].From) {
			steps = append(steps, outages.Phase{State: state, Span: outages.Span{From: at}})
		}
	}
	ended, over := gone.pod.first(crashed, gone, back)
	given, moved := back.pod.first(scheduled, gone, back)
	if moved && over {
		step(outages.Pending, ended, !ended.After(given))
	} else {
		step(outages.Starting, ended, over && !moved)
	}
	step(outages.Starting, given, moved)
	begun, runs := back.pod.last(started, gone, back)
	step(outages.Booting, begun, runs)
	for i, p := range steps {
		p.To = back.at
		if i+1 < len(steps) {
			p.To = steps[i+1].From
		}
		if p.To.After(p.From) {
			out = append(out, p)
		}
	}
	return out
}

// during are the times at which something happened to a pod during an outage.
func (p *pod) during(kind markKind, gone, back *turn) (at []time.Time) {
	for _, m := range p.marks {
		if m.kind == kind && !m.at.Before(gone.at) && !m.at.After(back.at) {
			at = append(at, m.at)
		}
	}
	return at
}

func (p *pod) first(kind markKind, gone, back *turn) (at time.Time, found bool) {
	if all := p.during(kind, gone, back); len(all) > 0 {
		return all[0], true
	}
	return at, false
}

func (p *pod) last(kind markKind, gone, back *turn) (at time.Time, found bool) {
	if all := p.during(kind, gone, back); len(all) > 0 {
		return all[len(all)-1], true
	}
	return at, false
}

// key tells pods apart.
func key(namespace, name, uid string) string {
	return strings.Join([]string{namespace, name, uid}, "\n")
}
