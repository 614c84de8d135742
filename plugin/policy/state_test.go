package policy

import (
	"errors"
	"hash/fnv"
	"strconv"
	"strings"
	"testing"

	"outlast/abi"
	"outlast/abi/strictjson"

	"pgregory.net/rapid"
)

// midway is the state of a call that waits for an attempt of steady's.
func midway(t testing.TB) (*Document, abi.Call, string) {
	doc, call := steady(t, "150s"), read0(1)
	state := ""
	for _, r := range []*abi.Result{&refused, &capped, &broken, &refused, &recovering, &refused} {
		_, state = ask(t, doc, &call, state, &abi.Event{Type: abi.Attempted, NowUS: 5, Result: r})
	}
	return doc, call, state
}

// badStates runs Decide on a state and wants it refused.
func wantBadState(t tb, doc *Document, call abi.Call, state string) {
	t.Helper()
	_, _, err := Decide(doc, &call, state, &abi.Event{Type: abi.Attempted, NowUS: 9, Result: &refused}, false)
	var e *abi.Error
	if !errors.As(err, &e) || e.Code != abi.CodeBadState || e.Field != "state" {
		t.Fatalf("%q: got %v, want bad_state", state, err)
	}
}

// signed is the text of a state with its numbers changed, and the checksum that
// goes with them.
func signed(state string, change func(numbers []string) []string) string {
	parts := strings.Split(state, ":")
	parts[2] = strings.Join(change(strings.Split(parts[2], ".")), ".")
	body := strings.Join(parts[:3], ":")
	return body + ":" + number(checksum(body))
}

func TestStateOfAnotherPolicy(t *testing.T) {
	_, call, state := midway(t)
	for _, other := range []*Document{builtin(t, "omnigraph"), builtin(t, "witan-core"), steady(t, "149s"), parsed(t, tiny)} {
		wantBadState(t, other, call, state)
	}
}

func TestStateThatIsDamaged(t *testing.T) {
	doc, call, state := midway(t)
	for i := range state {
		wantBadState(t, doc, call, state[:i]+state[i+1:]) // a character less
		if i > 0 {
			wantBadState(t, doc, call, state[:i]) // cut
			wantBadState(t, doc, call, state[i:])
		}
		for bit := range 8 {
			flipped := []byte(state)
			flipped[i] ^= 1 << bit
			wantBadState(t, doc, call, string(flipped))
		}
	}
	for _, text := range []string{" ", ":", ":::", "x", state + " ", " " + state, state + state, strings.Repeat("9", abi.MaxStateBytes), strings.ToUpper(state)} {
		wantBadState(t, doc, call, text)
	}
}

// A checksum is no signature: what is out of bounds is refused whoever wrote it.
func TestStateOutOfBounds(t *testing.T) {
	doc, call, state := midway(t)
	count := strings.Count(strings.Split(state, ":")[2], ".") + 1
	for i := range count {
		for _, bad := range []string{"", "-", "x", "1e3", "1.5", "+1", " 1", "9007199254740992", "-9007199254740992", "99999999999999999999", "0x1", "1_0"} {
			wantBadState(t, doc, call, signed(state, func(n []string) []string { n[i] = bad; return n }))
		}
		if i > 0 { // the clock may be negative, nothing else
			wantBadState(t, doc, call, signed(state, func(n []string) []string { n[i] = "-1"; return n }))
		}
	}
	for name, c := range map[string]struct {
		field int
		value string
	}{
		"more attempts than there can be": {2, "10001"}, "fewer attempts than the history has": {2, "5"}, "more broken connections": {4, "10001"},
		"an unknown phase": {6, "4"}, "a budget that is not there": {8, "4"}, "a kind that is not there": {11, number(int64(len(doc.kinds)))},
		"a window that is half open": {12, "2"}, "too many steps": {14, "10001"}, "too many windows": {15, "10001"},
		"too many counted": {16, "10001"}, "too many vain": {17, "10001"}, "a kind in the history": {count - 1, number(int64(len(doc.kinds)))},
	} {
		if _, err := decodeState(doc, signed(state, func(n []string) []string { n[c.field] = c.value; return n })); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	for name, change := range map[string]func([]string) []string{
		"a number more":            func(n []string) []string { return append(n, "0") },
		"an attempt more":          func(n []string) []string { return append(n, "0", "0") },
		"a number less":            func(n []string) []string { return n[1:] },
		"a budget less":            func(n []string) []string { return append(n[:12:12], n[18:]...) },
		"no numbers":               func([]string) []string { return nil },
		"a history without an end": func(n []string) []string { return append(n, strings.Split(strings.Repeat("0.", 1000)+"0", ".")...) },
	} {
		if _, err := decodeState(doc, signed(state, change)); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	if _, err := decodeState(doc, signed(state, func(n []string) []string { return n })); err != nil {
		t.Errorf("the state that the cases change is refused: %v", err)
	}
}

func TestStateOfAnotherFormat(t *testing.T) {
	doc, call, state := midway(t)
	body := strings.TrimPrefix(state[:strings.LastIndex(state, ":")], format)
	wantBadState(t, doc, call, "o2"+body+":"+number(checksum("o2"+body)))
}

// A policy without budgets never retries, so there is no state of it.
func TestStateOfAPolicyWithoutBudgets(t *testing.T) {
	doc := parsed(t, `{"version":1,"name":"x","budgets":{},"rules":[{"kind":"failed","then":[{"stop":{"effects":"none"}}]}]}`)
	state := newState(doc).encode(doc)
	wantBadState(t, doc, read0(1), state)
	_, _, err := Decide(doc, &abi.Call{}, state, &abi.Event{Type: abi.Woken, By: abi.Ready}, false)
	if err == nil {
		t.Error("a wake is accepted")
	}
}

func TestPending(t *testing.T) {
	doc, _, state := midway(t)
	if attempt, repair, err := Pending(doc, state); attempt != 7 || repair || err != nil {
		t.Errorf("got %d, %t, %v", attempt, repair, err)
	}
	local, omnigraph := localWrite(), builtin(t, "omnigraph")
	_, state = ask(t, omnigraph, &local, "", &abi.Event{Type: abi.Attempted, Result: &drifted})
	if attempt, repair, err := Pending(omnigraph, state); attempt != 2 || !repair || err != nil {
		t.Errorf("before a repair: %d, %t, %v", attempt, repair, err)
	}
	_, _, err := Pending(doc, state)
	var e *abi.Error
	if !errors.As(err, &e) || e.Code != abi.CodeBadState {
		t.Errorf("another policy's: %v", err)
	}
}

// worst has twelve budgets, each with every limit at its highest.
func worst(t testing.TB) *Document {
	budgets := ""
	for i := range maxBudgets {
		if i > 0 {
			budgets += ","
		}
		budgets += `"` + strings.Repeat("b", 62) + string(rune('a'+i)) + `":{"max_wait":"9007199254740991us","windows":10000,"broken_connections":10000,` +
			`"backoff":{"type":"linear","base":"1us","cap":"9007199254740991us"},"wake":{"reads":"accepting","spread":"1us","hold_off":"1us","max_vain":10000}}`
	}
	rules := ""
	for i := range maxRules - 1 {
		rules += `{"kind":"k` + strconv.Itoa(i) + `","when":[{"exit_codes":[` + strconv.Itoa(i) + `]}],"then":[{"retry":"` + strings.Repeat("b", 62) + `a"}]},`
	}
	return parsed(t, `{"version":1,"name":"worst","budgets":{`+budgets+`},"rules":[`+rules+`{"kind":"last","then":[{"retry":"`+strings.Repeat("b", 62)+`l"}]}]}`)
}

func TestStateFitsAtItsWorst(t *testing.T) {
	doc := worst(t)
	s := newState(doc)
	s.first, s.recent = make([]seen, abi.HistoryEnds), make([]seen, abi.HistoryEnds)
	longest := func(n *int64, low, high int64) {
		*n = high
		if len(number(low)) > len(number(high)) {
			*n = low
		}
	}
	s.fields(longest)
	text := s.encode(doc)
	if len(text) > abi.MaxStateBytes {
		t.Errorf("%d bytes: %s", len(text), text)
	}
	// The kinds are bounded by the document rather than by their field.
	s.kind = 199
	for i := range s.first {
		s.first[i].kind, s.recent[i].kind = 199, 199
	}
	text = s.encode(doc)
	back, err := decodeState(doc, text)
	if err != nil || back.encode(doc) != text {
		t.Errorf("it is not read back: %v", err)
	}
}

func TestStateRoundTrip(t *testing.T) {
	doc := worst(t)
	rapid.Check(t, func(t *rapid.T) {
		s := newState(doc)
		n := rapid.IntRange(0, 2*abi.HistoryEnds).Draw(t, "history")
		s.first = make([]seen, min(n, abi.HistoryEnds))
		s.recent = make([]seen, n-len(s.first))
		s.fields(func(n *int64, low, high int64) {
			*n = rapid.OneOf(rapid.Int64Range(low, high), rapid.SampledFrom([]int64{low, high})).Draw(t, "number")
		})
		s.attempts = max(s.attempts, int64(n))
		s.kind = min(s.kind, 199)
		for _, list := range [][]seen{s.first, s.recent} {
			for i := range list {
				list[i].kind = min(list[i].kind, 199)
			}
		}
		text := s.encode(doc)
		back, err := decodeState(doc, text)
		if err != nil || back.encode(doc) != text || len(text) > abi.MaxStateBytes {
			t.Fatalf("%s (%d bytes): %v", text, len(text), err)
		}
	})
}

func TestStateCountsItsNumbers(t *testing.T) {
	s := newState(worst(t))
	n := 0
	s.fields(func(*int64, int64, int64) { n++ })
	if s.fixed() != n {
		t.Errorf("fixed is %d, and there are %d numbers", s.fixed(), n)
	}
}

// TestChecksum compares with the standard library's, for every length of a last word.
func TestChecksum(t *testing.T) {
	for n := range 40 {
		text := strings.Repeat("o1:\x80\xff.", 7)[:n]
		h := fnv.New32a()
		h.Write([]byte(text))
		if want := int64(h.Sum32()); checksum(text) != want || checksum([]byte(text)) != want {
			t.Errorf("%q: %d, want %d", text, checksum(text), want)
		}
	}
}

// FuzzDecide: whatever a host sends back as the state, there is an answer.
func FuzzDecide(f *testing.F) {
	doc, call, state := midway(f)
	f.Add(state, int64(7), int64(3), uint8(0))
	f.Add(signed(state, func(n []string) []string { n[6] = "1"; return n }), int64(-5), int64(3), uint8(1))
	f.Add(signed(state, func(n []string) []string { n[6] = "2"; return n }), int64(1<<50), int64(3), uint8(2))
	f.Add("", int64(0), int64(0), uint8(3))
	results := []*abi.Result{&refused, &broken, &capped, &lostRace, &drifted, &done, &timedOut, &strange}
	f.Fuzz(func(t *testing.T, text string, now, random int64, kind uint8) {
		if parts := strings.Split(text, ":"); len(parts) == 4 { // let what is damaged through
			parts[1] = doc.Digest
			body := strings.Join(parts[:3], ":")
			text = body + ":" + number(checksum(body))
		}
		random &= lastChance
		now = min(max(now, -strictjson.MaxInteger), strictjson.MaxInteger)
		e := abi.Event{NowUS: now, Random: &random}
		switch kind % 4 {
		case 0:
			e.Type, e.Result = abi.Attempted, results[kind/4%8]
		case 1:
			e.Type, e.By = abi.Woken, abi.Ready
		case 2:
			e.Type, e.Result = abi.Repaired, results[kind/4%8]
		case 3:
			e.Type = abi.Cancelled
		}
		action, next, err := Decide(doc, &call, text, &e, true)
		var fault *abi.Error
		if err != nil && !errors.As(err, &fault) {
			t.Fatalf("an error of another kind: %v", err)
		}
		if err == nil {
			checkAnswer(t, doc, &action, next)
		}
	})
}
