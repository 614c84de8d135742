//go:build unix

package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// pair is a call, and what its driver was told of it.
type pair struct {
	language string
	call     call
	told     told
}

func pairs(language string, plan []call, lines map[string]told) (list []pair) {
	for _, c := range plan {
		t, ok := lines[c.ID]
		if !ok {
			t = told{Outcome: "nothing"}
		}
		list = append(list, pair{language, c, t})
	}
	return list
}

// found is what became of all calls.
type found struct {
	seed  uint64
	calls []pair
	took  time.Duration
	met   map[string]int
	rows  map[string]*row
	wrong []string // what is not right, with its call
}

// row is what became of a client's calls.
type row struct {
	reads, writes   int
	readOK, writeOK int
	rode            [2]int // reads and writes that ended well after several attempts
	none            int    // writes with effects none, and not applied
	inDoubt         int
	doubtApplied    int // of these, applied
	own             int // writes that the client applied twice by itself, within an attempt
	raw             int // of both: the function's own error came out, which is no failure of a server to outlast
	perhaps         int // reads that failed, and may have met a connection that broke before its request came
	bad             [len(verdicts)]int
}

// What a call must not come to.
const (
	twice   = iota // a write was applied in several attempts, or by its client in one
	notOnce        // ok, and not applied once
	notNone        // effects none, and applied
	lost           // a read failed, and met nothing that it may fail with
	unread         // ok, and what was read is not what was answered
	untold         // nothing came of it
	timid          // a write gave up that no server saw, and whose connections were only refused
)

var verdicts = [...]string{"applied twice", "ok, not applied once", "effects none, applied", "a read failed without cause", "another answer seen", "no outcome", "a write gave up without cause"}

func newFound(seed uint64) *found { return &found{seed: seed, rows: map[string]*row{}} }

func (f *found) judge(s *server) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.met = s.met
	for i := range f.calls {
		p := &f.calls[i]
		key := p.language + " " + p.call.Client
		if f.rows[key] == nil {
			f.rows[key] = &row{}
		}
		f.rows[key].add(p, s, func(verdict int) {
			f.wrong = append(f.wrong, fmt.Sprintf("%s: %s %+v\n  %+v\n  %s", verdicts[verdict], key, p.call, p.told, s.of(p)))
		})
	}
}

// of is what the server knows of a call.
func (s *server) of(p *pair) string {
	var text []string
	for _, id := range p.parts() {
		if part := s.parts[id]; part != nil {
			text = append(text, fmt.Sprintf("%s: came %d, applied %q, broken %d, final %t", id, part.came, part.applied, part.broken, part.final))
		}
	}
	return strings.Join(append(text, fmt.Sprint("moments ", s.near(p))), "; ")
}

// parts are the names of a call's requests.
func (p *pair) parts() []string {
	list := []string{p.call.ID + "/0"}
	if p.call.Shape != one {
		list = append(list, p.call.ID+"/1")
	}
	return list
}

// near counts the moments that may have broken a connection of a call, and that no
// request tells of.
func (s *server) near(p *pair) (n int) {
	for _, client := range []string{"", p.call.Client} {
		for _, at := range s.moments[client] {
			if at >= p.told.From-slack && at <= p.told.To+slack {
				n++
			}
		}
	}
	return n
}

// slack is how much later, in milliseconds, something may be entered than it was (a choice).
const slack = 50

func (r *row) add(p *pair, s *server, wrong func(verdict int)) {
	is := func(verdict int, so bool) {
		if so {
			r.bad[verdict]++
			wrong(verdict)
		}
	}
	ok := p.told.Outcome == "ok"
	is(untold, p.told.Outcome == "nothing")
	is(unread, ok && p.told.Seen != p.answer())
	if p.told.Outcome == "raised" {
		r.raw++
	}
	if !p.call.Write {
		r.reads++
		if ok {
			r.readOK++
			r.rode[0] += many(p)
		}
		if certainly, perhaps := s.mayFail(p); !ok && !certainly {
			r.perhaps++
			is(lost, !perhaps)
		}
		return
	}
	r.writes++
	all, some, again, own := s.applied(p)
	is(twice, again || own && !(p.call.Client == xmlrpc && p.call.Shape == both))
	if own {
		r.own++
	}
	switch {
	case ok:
		r.writeOK++
		r.rode[1] += many(p)
		is(notOnce, !all)
	case p.told.Effects == "none":
		r.none++
		is(notNone, some)
	default:
		r.inDoubt++
		if some {
			r.doubtApplied++
		}
	}
	is(timid, !ok && p.mayInsist() && !s.saw(p) && s.near(p) == 0)
}

// mayInsist says whether a write must ride out connections that are only refused: of
// requests at once one may still be sent, a kept connection may be long gone, a Func
// claims nothing, and in Node a request that an attempt has left behind follows its
// redirect beside the next ones.
func (p *pair) mayInsist() bool {
	return p.call.Shape != both && !p.call.Kept && p.call.Client != "Func" &&
		!strings.Contains(p.told.Message, "sent a request of no attempt")
}

// many is 1 if a call took several attempts.
func many(p *pair) int { return min(max(p.told.Attempts-1, 0), 1) }

// answer is what a call that is ok must have seen.
func (p *pair) answer() string {
	text := ""
	for _, id := range p.parts() {
		text += "done " + id + ";"
	}
	return text
}

// mayFail says whether a read met what it may fail with: an answer that ends it, or
// the third connection that broke, if those count of which no request tells.
func (s *server) mayFail(p *pair) (certainly, perhaps bool) {
	broken := 0
	for _, id := range p.parts() {
		if part := s.parts[id]; part != nil {
			certainly = certainly || part.final
			broken += part.broken
		}
	}
	most := 2
	if p.call.Client == transported {
		most = 0 // once an answer has begun, nothing is tried again
	}
	return certainly || broken > 2, broken+s.near(p) > most
}

// saw says whether a request of the call came.
func (s *server) saw(p *pair) bool {
	return slices.ContainsFunc(p.parts(), func(id string) bool { return s.parts[id] != nil })
}

// applied says whether each request of a call was applied, one was, one was in
// several attempts, and one was several times in one attempt.
func (s *server) applied(p *pair) (all, some, again, own bool) {
	all = true
	for _, id := range p.parts() {
		part := s.parts[id]
		if part == nil || len(part.applied) == 0 {
			all = false
			continue
		}
		some = true
		attempts := map[string]bool{}
		for _, n := range part.applied {
			attempts[n] = true
		}
		again = again || len(attempts) > 1
		own = own || len(attempts) < len(part.applied)
	}
	return all, some, again, own
}

func (f *found) isRight() bool { return len(f.wrong) == 0 }

func (f *found) sum(verdict int) (n int) {
	for _, r := range f.rows {
		n += r.bad[verdict]
	}
	return n
}

func (f *found) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d calls, %.0f s, seed %d\n\n", len(f.calls), f.took.Seconds(), f.seed)
	b.WriteString("| client | reads: ok, of these after several attempts | writes: likewise | effects none | in doubt, of which applied | own errors | repeated by the client itself |\n| --- | --- | --- | --- | --- | --- | --- |\n")
	for _, key := range slices.Sorted(maps.Keys(f.rows)) {
		r := f.rows[key]
		fmt.Fprintf(&b, "| %s | %d: %d, %d | %d: %d, %d | %d | %d, %d | %d | %d |\n", key, r.reads, r.readOK, r.rode[0], r.writes, r.writeOK, r.rode[1], r.none, r.inDoubt, r.doubtApplied, r.raw, r.own)
	}
	perhaps := 0
	for _, r := range f.rows {
		perhaps += r.perhaps
	}
	fmt.Fprintf(&b, "\nreads that failed with what may have been a third broken connection: %d\n", perhaps)
	for verdict, name := range verdicts {
		fmt.Fprintf(&b, "%s: %d\n", name, f.sum(verdict))
	}
	b.WriteString("\nmet:")
	for _, name := range slices.Sorted(maps.Keys(f.met)) {
		fmt.Fprintf(&b, " %s %d;", name, f.met[name])
	}
	b.WriteString("\n")
	for _, text := range f.wrong[:min(len(f.wrong), shown)] {
		fmt.Fprintln(&b, text)
	}
	return b.String()
}

// shown is how many calls that are not right are printed.
const shown = 30
