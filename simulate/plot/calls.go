package plot

import (
	"io"
	"time"

	"outlast/simulate"
)

// Lane is one call in a figure.
type Lane struct {
	Title   string
	Verdict string
	Story   *simulate.Story
}

// lane is the height of one.
const lane = 76

// Calls draws calls through the same outages, below each other.
func Calls(w io.Writer, format, title string, away []simulate.Span, lanes []Lane) error {
	height := float64(header + lane*len(lanes) + footer)
	c, err := canvasOf(format, height)
	if err != nil {
		return err
	}
	from := away[0].From
	for _, l := range lanes {
		from = min(from, l.Story.Begin)
	}
	a := axisTo(from, lastOf(away, lanes))
	top, bottom := float64(header), height-footer
	c.text(left, 24, 17, start, ink, title)
	legend(c)
	for _, o := range Shown(away, lanes) {
		c.rect(a.x(o.From), top, a.x(o.To)-a.x(o.From), bottom-top, band)
	}
	a.draw(c, top, bottom, since(away))
	for i, l := range lanes {
		l.draw(c, a, top+float64(i)*lane)
	}
	return c.write(w)
}

// Shown are the outages that are in the figure: those that begin after all
// calls have ended are not.
func Shown(away []simulate.Span, lanes []Lane) (list []simulate.Span) {
	for last := lastOf(away, lanes); len(list) < len(away) && away[len(list)].From < last; {
		list = away[:len(list)+1]
	}
	return list
}

func lastOf(away []simulate.Span, lanes []Lane) time.Duration {
	last := away[0].To
	for _, l := range lanes {
		last = max(last, l.Story.End, l.Story.Deadline)
	}
	for _, o := range away {
		if o.From <= last {
			last = max(last, o.To)
		}
	}
	return last
}

// since is what an axis counts from.
func since(away []simulate.Span) string {
	if away[0].From == 0 {
		return "time since the outage began"
	}
	return "time"
}

func legend(c canvas) {
	const y = 46
	c.rect(left, y-10, 22, 12, band)
	c.text(left+28, y, 12, start, ink, "the server is away")
	cross(c, left+165, y-4, 4)
	c.text(left+175, y, 12, start, ink, "a failed attempt")
	c.disc(left+305, y-4, 5, success)
	c.text(left+316, y, 12, start, ink, "success")
	c.line(left+385, y-12, left+385, y+3, 2, true, limit)
	c.text(left+393, y, 12, start, ink, "the deadline")
	c.line(left+490, y-10, left+490, y+2, 2, false, grey)
	c.text(left+498, y, 12, start, ink, "left out: seen to be away")
}

func (l *Lane) draw(c canvas, a axis, top float64) {
	y := top + 52
	c.line(left, top+lane, width-right, top+lane, 1, false, pale)
	c.text(left+6, top+20, 14, start, ink, l.Title)
	verdict := failure
	if l.Story.OK() {
		verdict = success
	}
	c.text(width-right-6, top+20, 14, end, verdict, l.Verdict)
	c.line(a.x(l.Story.Begin), y, a.x(l.Story.End), y, 2, false, grey)
	if d := l.Story.Deadline; d > 0 {
		c.line(a.x(d), y-20, a.x(d), y+20, 2, true, limit)
	}
	for _, m := range l.Story.Moments {
		x := a.x(m.At)
		switch m.Met {
		case simulate.MetDown:
			if m.Ended > m.At {
				c.line(x, y, a.x(m.Ended), y, 4, false, failure)
			}
			cross(c, x, y, 5)
		case simulate.MetUp:
			c.disc(x, y, 7, success)
		case simulate.MetLeftOut, simulate.MetLoading:
			c.line(x, y-6, x, y+6, 2, false, grey)
		}
	}
}
