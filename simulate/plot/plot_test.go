package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"strings"
	"testing"
	"time"

	"outlast/abi"
	"outlast/simulate"
)

func lanes() ([]simulate.Span, []Lane) {
	away := []simulate.Span{{From: 0, To: 61 * time.Second}, {From: 70 * time.Second, To: 72 * time.Second}}
	story := &simulate.Story{
		Deadline: 75 * time.Second, End: 64 * time.Second, Outcome: abi.Outcome{Type: abi.OutcomeOK},
		Moments: []simulate.Moment{
			{Met: simulate.MetDown, At: 0, Ended: 3 * time.Second},
			{Met: simulate.MetLeftOut, At: 10 * time.Second},
			{Met: simulate.MetDown, At: 20 * time.Second, Ended: 20 * time.Second},
			{Met: simulate.MetUp, At: 64 * time.Second},
		},
	}
	return away, []Lane{{Title: `a <policy> & "more"`, Verdict: "succeeds", Story: story}, {Title: "b", Verdict: "c", Story: story}}
}

func panels() []Panel {
	r := &simulate.Report{Callers: 10, Away: []simulate.Span{{From: 0, To: 2 * time.Second}}, Bins: make([]simulate.Bin, 40)}
	r.Bins[0] = simulate.Bin{Arrivals: 1000, Wasted: 1000}
	r.Bins[15] = simulate.Bin{Arrivals: 100, Wasted: 100}
	r.Bins[25] = simulate.Bin{Arrivals: 50, Wasted: 10, Served: 40}
	return []Panel{{Title: "a", Verdict: "b", Report: r}}
}

// figures draws each kind of figure.
var figures = map[string]func(w io.Writer, format string) error{
	"calls": func(w io.Writer, format string) error {
		away, list := lanes()
		return Calls(w, format, "a title", away, list)
	},
	"fleets": func(w io.Writer, format string) error { return Fleets(w, format, "a title", panels()) },
}

// Every SVG is XML, and has what it shows.
func TestSVG(t *testing.T) {
	for name, want := range map[string]map[string]int{
		// A title and a legend of each mark, and in each of two lanes: four lines for
		// crosses, one for the left out, one deadline, one success.
		"calls":  {`fill="#fadbd0"`: 3, `<circle`: 1 + 2, `stroke-dasharray`: 1 + 2, `stroke="#c0392b" stroke-width="2"`: 2 + 2*4, "a &lt;policy&gt; &amp; &#34;more&#34;": 1},
		"fleets": {`fill="#fadbd0"`: 2, `fill="#1e8449"`: 2, ">1 k<": 1, ">100<": 1},
	} {
		var out bytes.Buffer
		if err := figures[name](&out, ".svg"); err != nil {
			t.Fatal(err)
		}
		for d := xml.NewDecoder(bytes.NewReader(out.Bytes())); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		for part, n := range want {
			if got := strings.Count(out.String(), part); got != n {
				t.Errorf("%s: %d of %s, want %d", name, got, part, n)
			}
		}
	}
}

// A PNG has the colours where they belong.
func TestPNG(t *testing.T) {
	for name, figure := range figures {
		var out bytes.Buffer
		if err := figure(&out, ".png"); err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(&out)
		if err != nil || img.Bounds().Dx() != width*scale {
			t.Fatalf("%s: %v", name, err)
		}
		seen := map[[3]uint8]int{}
		for y := range img.Bounds().Dy() {
			for x := range img.Bounds().Dx() {
				r, g, b, _ := img.At(x, y).RGBA()
				seen[[3]uint8{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8)}]++
			}
		}
		for what, n := range map[[3]uint8]int{
			{band.R, band.G, band.B}:          10_000,
			{failure.R, failure.G, failure.B}: 20,
			{success.R, success.G, success.B}: 20,
			{ink.R, ink.G, ink.B}:             100,
		} {
			if seen[what] < n {
				t.Errorf("%s: %d pixels of %v", name, seen[what], what)
			}
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestErrors(t *testing.T) {
	for _, path := range []string{"a", "a.gif", "svg", ""} {
		if _, err := Format(path); err == nil || !strings.Contains(err.Error(), ".svg or .png") {
			t.Errorf("%q: got %v", path, err)
		}
	}
	for name, figure := range figures {
		for _, format := range []string{".svg", ".png"} {
			if err := figure(full{}, format); err == nil {
				t.Errorf("%s%s: a full disk is not told", name, format)
			}
		}
	}
}

// Labels do not crowd, however long the axis is.
func TestAxes(t *testing.T) {
	for _, d := range []time.Duration{time.Millisecond, time.Second, 42500 * time.Millisecond, time.Minute, 3 * time.Hour, 31 * 24 * time.Hour} {
		a := axisTo(0, d)
		if n := a.to / a.step(); n > 13 || n < 2 {
			t.Errorf("%v: %d labels", d, n)
		}
	}
}
