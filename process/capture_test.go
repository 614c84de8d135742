package process

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"outlast/abi"
)

func captured(chunks ...[]byte) abi.Text {
	var c capture
	for _, chunk := range chunks {
		c.add(chunk)
	}
	return c.text()
}

func TestShortTextIsWhole(t *testing.T) {
	for _, s := range []string{"", "a", "Zoë\r\n", strings.Repeat("x", abi.MaxTextBytes)} {
		if got := captured([]byte(s)); got != (abi.Text{Head: s}) {
			t.Errorf("%.20q of %d bytes: %d, %d, cut %v", s, len(s), len(got.Head), len(got.Tail), got.Cut)
		}
	}
}

func TestLongTextKeepsItsEnds(t *testing.T) {
	for _, extra := range []int{1, 2, halfText, halfText + 1, 5 * halfText, 5*halfText + 7} {
		b := bytes.Repeat([]byte("0123456789"), (abi.MaxTextBytes+extra)/10+1)[:abi.MaxTextBytes+extra]
		want := abi.Text{Head: string(b[:halfText]), Tail: string(b[len(b)-halfText:]), Cut: true}
		if got := captured(b); got != want {
			t.Errorf("%d bytes: wrong ends", len(b))
		}
	}
}

func TestBadBytesAreReplacedOneByOne(t *testing.T) {
	if got := captured([]byte("a\xff\xfe\xc3(\xe2\x82b")).Head; got != "a\uFFFD\uFFFD\uFFFD(\uFFFD\uFFFDb" {
		t.Errorf("got %q", got)
	}
}

// A result has to pass the contract, whatever the child printed: U+FFFD takes
// three bytes where there was one.
func TestAnyTextFitsTheContract(t *testing.T) {
	euro, smile := strings.Repeat("€", 3*halfText), strings.Repeat("😀", 3*halfText)
	for name, b := range map[string]string{
		"bad bytes, short": strings.Repeat("\xff", abi.MaxTextBytes),
		"bad bytes, long":  strings.Repeat("\xff", 3*abi.MaxTextBytes),
		"euros":            euro,
		"euros, one off":   "x" + euro,
		"euros, two off":   "xx" + euro,
		"smiles, one off":  "x" + smile,
		"smiles, two off":  "xx" + smile,
		"smiles, 3 off":    "xxx" + smile,
		"smiles, end off":  smile + "x",
		"mixed":            strings.Repeat("€\xff\xc3", abi.MaxTextBytes/3),
	} {
		code := int64(1)
		e := abi.Event{Type: abi.Attempted, Result: &abi.Result{ExitCode: &code, Stderr: captured([]byte(b))}}
		back, err := abi.DecodeEvent(string(e.Encode()))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(e.Result.Stderr, back.Result.Stderr); diff != "" {
			t.Errorf("%s: changed on the way: %s", name, diff)
		}
		if !e.Result.Stderr.Cut || len(e.Result.Stderr.Head) < halfText-utf8.UTFMax || len(e.Result.Stderr.Tail) < halfText-utf8.UTFMax {
			t.Errorf("%s: head %d, tail %d, cut %v", name, len(e.Result.Stderr.Head), len(e.Result.Stderr.Tail), e.Result.Stderr.Cut)
		}
		if !strings.HasPrefix(name, "bad") && name != "mixed" && strings.Contains(e.Result.Stderr.Head+e.Result.Stderr.Tail, "\uFFFD") {
			t.Errorf("%s: a cut split a character", name)
		}
	}
}

// However the output comes in pieces, the text is the same, and its ends are
// those of the output.
func TestTextDoesNotDependOnThePieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.SliceOfN(rapid.Byte(), 1, 40).Draw(t, "unit")
		size := rapid.IntRange(0, 4*abi.MaxTextBytes).Draw(t, "size")
		b := bytes.Repeat(unit, size/len(unit)+1)[:size]
		want := captured(b)
		var c capture
		for rest := b; len(rest) > 0; {
			n := rapid.IntRange(1, min(len(rest), 100_000)).Draw(t, "piece")
			c.add(rest[:n])
			rest = rest[n:]
		}
		if c.text() != want {
			t.Fatalf("%d bytes: the text depends on the pieces", size)
		}
		if len(want.Head)+len(want.Tail) > abi.MaxTextBytes || !utf8.ValidString(want.Head+want.Tail) {
			t.Fatalf("head %d, tail %d", len(want.Head), len(want.Tail))
		}
		whole := toUTF8(b)
		if !want.Cut && want.Head != whole {
			t.Fatal("a text that is not cut is not the output")
		}
		if want.Cut && size > 0 {
			// A split character at a raw cut is taken off rather than replaced.
			if !strings.HasPrefix(whole, want.Head) {
				t.Fatal("the head is not the output's")
			}
			if !strings.HasSuffix(whole, want.Tail) {
				t.Fatal("the tail is not the output's")
			}
		}
	})
}
