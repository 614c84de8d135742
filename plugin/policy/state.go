package policy

import (
	"strings"

	"outlast/abi"
	"outlast/abi/strictjson"
)

// phase is what the host does next.
type phase int64

const (
	attempting phase = iota // waits, if pending > 0, then attempts
	waking                  // the same, but woken: a vain one leaves the schedule alone
	repairing               // repairs, and stops if that fails
	mending                 // repairs, and goes on however that ends
	phases
)

// state is what a call has spent so far. It holds time spent, never a deadline,
// so that a clock which jumps cannot move one.
type state struct {
	last      int64 // the last now_us that was seen
	elapsed   int64 // since the call started
	attempts  int64
	draws     int64 // random numbers taken from the call's seed
	broken    int64 // broken connections
	repaired  int64 // repairs asked for
	phase     phase
	doubt     bool  // an attempt may have been applied, and another followed it
	pending   int64 // the delay that was asked for
	budget    int64 // that the pending retry counts on
	left      int64 // while waking: what the schedule still had to wait after the pending delay
	withheld  int64 // while attempting: from the last attempt or down to the pending delay, with no attempt in between
	wakeAfter int64 // how long of the pending delay wakes are held off
	kind      int64 // of the last failure
	budgets   []spent
	first     []seen                    // the first attempts that failed
	recent    []seen                    // and the last ones after these
	ends      [2 * abi.HistoryEnds]seen // where both of these are
}

// spent is what a call has spent on one budget.
type spent struct {
	open   int64 // 1 while its window is open
	time   int64 // since the window opened
	step   int64 // failures in this window: the backoff's n
	opened int64 // windows so far
	count  int64 // attempts that counted on it, in all windows
	vain   int64 // vain wakes in this window
}

// seen is one attempt that failed.
type seen struct {
	at   int64 // when, since the call started
	kind int64
}

func newState(doc *Document) *state {
	s := &state{budgets: make([]spent, len(doc.Budgets))}
	s.allocateHistory(0)
	return s
}

// The first part of a state's text says its format; one of another is refused. A
// state in doubt has its own, since a build that does not know of doubt must not
// go on as though nothing could have been applied.
const (
	format   = "o1"
	doubtful = "o1d"
)

// fields visits every number of the state in the order of its text.
func (s *state) fields(visit func(n *int64, low, high int64)) {
	const most = strictjson.MaxInteger
	visit(&s.last, -most, most)
	visit(&s.elapsed, 0, most)
	visit(&s.attempts, 0, abi.MaxAttempts)
	visit(&s.draws, 0, most)
	visit(&s.broken, 0, abi.MaxAttempts)
	visit(&s.repaired, 0, abi.MaxAttempts)
	visit((*int64)(&s.phase), 0, int64(phases)-1)
	visit(&s.pending, 0, most)
	visit(&s.budget, 0, max(0, int64(len(s.budgets))-1))
	if s.phase == attempting {
		visit(&s.withheld, 0, most)
	} else {
		visit(&s.left, 0, most)
	}
	visit(&s.wakeAfter, 0, most)
	visit(&s.kind, 0, maxRules)
	for i := range s.budgets {
		b := &s.budgets[i]
		visit(&b.open, 0, 1)
		visit(&b.time, 0, most)
		visit(&b.step, 0, abi.MaxAttempts)
		visit(&b.opened, 0, abi.MaxAttempts)
		visit(&b.count, 0, abi.MaxAttempts)
		visit(&b.vain, 0, abi.MaxAttempts)
	}
	for _, list := range [][]seen{s.first, s.recent} {
		for i := range list {
			visit(&list[i].at, 0, most)
			visit(&list[i].kind, 0, maxRules)
		}
	}
}

// encode is the state's text: format, the policy's digest, the numbers, and a
// checksum of it all.
func (s *state) encode(doc *Document) string {
	first := format
	if s.doubt {
		first = doubtful
	}
	b := append(make([]byte, 0, usualState), first...)
	b = append(b, ':')
	b = append(b, doc.Digest...)
	separator := byte(':')
	s.fields(func(n *int64, _, _ int64) {
		b = strictjson.AppendInt(append(b, separator), *n)
		separator = '.'
	})
	sum := checksum(b)
	return string(strictjson.AppendInt(append(b, ':'), sum))
}

// usualState is more than most states have, in bytes (a choice: the built-in
// policies' have about 170, and 300 with a full history).
const usualState = 384

// checksum is FNV-1a of 32 bits. It finds damage; it is no signature.
func checksum[T string | []byte](text T) int64 {
	const offset, prime = 2166136261, 16777619
	h := uint32(offset)
	for i := 0; i < len(text); i++ {
		h = (h ^ uint32(text[i])) * prime
	}
	return int64(h)
}

// decodeState reads a state's text. One that is damaged, out of bounds or
// another policy's is an error, for starting over would lose what was spent.
func decodeState(doc *Document, text string) (*state, error) {
	version, rest, _ := strings.Cut(text, ":")
	digest, rest, _ := strings.Cut(rest, ":")
	numbers, sum, four := strings.Cut(rest, ":")
	body := text[:len(text)-len(sum)]
	switch {
	case !four || version != format && version != doubtful || strings.IndexByte(sum, ':') >= 0:
		return nil, badState("is not a state of this version")
	case sum != number(checksum(body[:len(body)-1])):
		return nil, badState("is damaged")
	case digest != doc.Digest:
		return nil, badState("belongs to another policy")
	}
	s := newState(doc)
	s.doubt = version == doubtful
	if !s.allocateHistory(strings.Count(numbers, ".") + 1 - s.fixed()) {
		return nil, badState("is out of bounds")
	}
	at, ok := 0, true
	s.fields(func(n *int64, low, high int64) {
		var whole bool
		*n, at, whole = parseNumber(numbers, at)
		ok = ok && whole && *n >= low && *n <= high
	})
	if !ok || !s.consistent(doc) {
		return nil, badState("is out of bounds")
	}
	return s, nil
}

// Pending is what a state still asks for: an attempt of this number, or first a
// repair. Errors are *abi.Error.
func Pending(doc *Document, text string) (attempt int64, repair bool, err error) {
	s, err := decodeState(doc, text)
	if err != nil {
		return 0, false, err
	}
	return s.attempts + 1, s.phase >= repairing, nil
}

// parseNumber reads what AppendInt wrote, up to the size of any wire integer,
// from at to the next full stop or the end. The number after it starts at after.
func parseNumber(text string, at int) (n int64, after int, ok bool) {
	i := at
	negative := i < len(text) && text[i] == '-'
	if negative {
		i++
	}
	first := i
	for ; i < len(text) && text[i] != '.'; i++ {
		digit := text[i] - '0'
		if digit > 9 || i-first >= len("9007199254740991") {
			return 0, i, false
		}
		n = 10*n + int64(digit)
	}
	if negative {
		n = -n
	}
	return n, i + 1, i > first
}

// fixed is how many numbers a state has without its history.
func (s *state) fixed() int { return 12 + 6*len(s.budgets) }

// allocateHistory makes room for as many attempts as a text has numbers for,
// and for all that follow.
func (s *state) allocateHistory(numbers int) bool {
	if numbers < 0 || numbers%2 != 0 || numbers > 2*len(s.ends) {
		return false
	}
	n := numbers / 2
	s.first = s.ends[:min(n, abi.HistoryEnds):abi.HistoryEnds]
	s.recent = s.ends[abi.HistoryEnds : abi.HistoryEnds+n-len(s.first)]
	return true
}

func (s *state) consistent(doc *Document) bool {
	for _, list := range [][]seen{s.first, s.recent} {
		for _, e := range list {
			if e.kind >= int64(len(doc.kinds)) {
				return false
			}
		}
	}
	return len(doc.Budgets) > 0 && s.kind < int64(len(doc.kinds)) && s.attempts >= int64(len(s.first)+len(s.recent))
}

func badState(what string) error {
	return &abi.Error{Code: abi.CodeBadState, Field: "state", Message: what}
}

// remember adds a failed attempt to the history.
func (s *state) remember(kind int) {
	e := seen{s.elapsed, int64(kind)}
	s.kind = e.kind
	switch {
	case len(s.first) < abi.HistoryEnds:
		s.first = append(s.first, e)
	case len(s.recent) < abi.HistoryEnds:
		s.recent = append(s.recent, e)
	default:
		copy(s.recent, s.recent[1:])
		s.recent[len(s.recent)-1] = e
	}
}

// history is the first and last attempts that failed; each failed attempt but
// the one that ends a call in success is counted, so their numbers follow.
func (s *state) history(doc *Document, failures int64) []abi.HistoryEntry {
	var out []abi.HistoryEntry
	add := func(attempt int64, e seen) {
		out = append(out, abi.HistoryEntry{Attempt: attempt, AtUS: e.at, Kind: doc.kinds[e.kind]})
	}
	for i, e := range s.first {
		add(int64(i)+1, e)
	}
	for i, e := range s.recent {
		add(failures-int64(len(s.recent)-1-i), e)
	}
	return out
}

// advance moves the call's time to the event's. A clock that went backwards
// adds nothing; a wait that ended in full adds at least what was asked for,
// however the clock behaves.
func (s *state) advance(nowUS, atLeast int64) (passed int64) {
	passed = max(nowUS-s.last, atLeast, 0)
	s.last = nowUS
	s.elapsed = sum(s.elapsed, passed)
	for i := range s.budgets {
		if s.budgets[i].open == 1 {
			s.budgets[i].time = sum(s.budgets[i].time, passed)
		}
	}
	return passed
}

// sum adds what is not negative and stays within the wire's integers.
func sum(a, b int64) int64 {
	return min(a+b, strictjson.MaxInteger)
}
