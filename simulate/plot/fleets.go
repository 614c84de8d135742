package plot

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"outlast/simulate"
)

// Panel is one fleet in a figure.
type Panel struct {
	Title   string
	Verdict string
	Report  *simulate.Report
}

// panel is the height of one.
const panel = 190

// Fleets draws the arrivals of fleets, below each other, on the same scales.
func Fleets(w io.Writer, format, title string, panels []Panel) error {
	height := float64(header + panel*len(panels) + footer)
	c, err := canvasOf(format, height)
	if err != nil {
		return err
	}
	last, high := time.Duration(0), 1
	for _, p := range panels {
		last = max(last, simulate.Tick*time.Duration(len(p.Report.Bins)), p.Report.Away[0].To)
		high = max(high, p.peak())
	}
	a := axisTo(panels[0].Report.Away[0].From, last)
	c.text(left, 24, 17, start, ink, title)
	fleetLegend(c)
	for i, p := range panels {
		p.draw(c, a, float64(header+i*panel), high)
	}
	a.draw(c, height-footer, height-footer, since(panels[0].Report.Away))
	return c.write(w)
}

func fleetLegend(c canvas) {
	const y = 46
	c.rect(left, y-10, 22, 12, band)
	c.text(left+28, y, 12, start, ink, "the server is away")
	c.rect(left+165, y-10, 12, 12, failure)
	c.text(left+183, y, 12, start, ink, "failed attempts")
	c.rect(left+295, y-10, 12, 12, success)
	c.text(left+313, y, 12, start, ink, "attempts that succeed")
	c.text(width-right, y, 12, end, grey, "attempts in 100 ms")
}

// peak is the highest bar that is shown in full: those of the first second, in
// which callers that begin together all fail, would dwarf the rest.
func (p *Panel) peak() (high int) {
	for i := int((p.Report.Away[0].From + time.Second) / simulate.Tick); i < len(p.Report.Bins); i++ {
		high = max(high, p.Report.Bins[i].Arrivals)
	}
	return high
}

func (p *Panel) draw(c canvas, a axis, top float64, high int) {
	bottom, room := top+panel-14, float64(panel-56)
	for _, o := range p.Report.Away {
		c.rect(a.x(o.From), top+30, a.x(min(o.To, a.to))-a.x(o.From), bottom-top-30, band)
	}
	c.text(left+6, top+20, 14, start, ink, p.Title)
	c.text(width-right-6, top+20, 14, end, ink, p.Verdict)
	for _, share := range []float64{0.5, 1} {
		y := bottom - room*share
		c.line(left, y, width-right, y, 1, false, pale)
		c.text(left-6, y+4, 11, end, grey, short(float64(high)*share))
	}
	c.line(left, bottom, width-right, bottom, 1, false, grey)
	// One bar for each tenth of a second, or for the highest of those that share
	// a pixel.
	bar := max(1, a.x(simulate.Tick)-a.x(0))
	shown := map[int]simulate.Bin{}
	for i, b := range p.Report.Bins {
		pixel := int(a.x(simulate.Tick*time.Duration(i)) / bar)
		if b.Arrivals > shown[pixel].Arrivals {
			shown[pixel] = b
		}
	}
	for pixel := range int(width/bar) + 1 {
		b := shown[pixel]
		if b.Arrivals == 0 {
			continue
		}
		x, tall := float64(pixel)*bar, room*float64(b.Arrivals)/float64(high)
		cut := tall > room+10
		tall = min(tall, room+10)
		good := tall * float64(b.Arrivals-b.Wasted) / float64(b.Arrivals)
		if tall > good {
			c.rect(x, bottom-tall, bar, tall-good, failure)
		}
		if good > 0 {
			c.rect(x, bottom-good, bar, good, success)
		}
		if cut {
			c.text(x+bar+3, bottom-room-2, 11, start, failure, short(float64(b.Arrivals)))
		}
	}
}

// short is a number in at most four characters or so.
func short(n float64) string {
	switch {
	case n >= 1e6:
		return trim(n/1e6) + " M"
	case n >= 1e3:
		return trim(n/1e3) + " k"
	}
	return trim(n)
}

func trim(n float64) string {
	if n >= 100 {
		return fmt.Sprint(math.Round(n))
	}
	return strconv.FormatFloat(math.Round(n*10)/10, 'f', -1, 64)
}
