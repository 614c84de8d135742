// Package plot draws what package simulate played, as SVG or PNG: the outage as
// a band, attempts, the deadline, the end; or a fleet's arrivals.
package plot

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"path/filepath"
	"strings"
	"time"
)

// Format is a file's format, by the end of its name.
func Format(path string) (string, error) {
	switch format := strings.ToLower(filepath.Ext(path)); format {
	case ".svg", ".png":
		return format, nil
	}
	return "", fmt.Errorf("%s: expected a name that ends in .svg or .png", path)
}

// canvas is what figures are drawn on. Lengths are pixels of an SVG; y grows
// downwards.
type canvas interface {
	rect(x, y, w, h float64, c color.NRGBA)
	line(x1, y1, x2, y2, width float64, dashed bool, c color.NRGBA)
	disc(x, y, r float64, c color.NRGBA)
	text(x, y, size float64, at anchor, c color.NRGBA, s string)
	write(w io.Writer) error
}

// anchor is which end of a text its position is.
type anchor string

const (
	start  anchor = "start"
	middle anchor = "middle"
	end    anchor = "end"
)

// Colours that differ in brightness too, for those who do not see them apart.
var (
	white   = color.NRGBA{255, 255, 255, 255}
	ink     = color.NRGBA{34, 34, 34, 255}
	grey    = color.NRGBA{140, 140, 140, 255}
	pale    = color.NRGBA{225, 225, 225, 255}
	band    = color.NRGBA{250, 219, 208, 255}
	failure = color.NRGBA{192, 57, 43, 255}
	success = color.NRGBA{30, 132, 73, 255}
	limit   = color.NRGBA{31, 78, 160, 255}
)

// Sizes of a figure, in pixels (choices).
const (
	width  = 960
	left   = 70
	right  = 30
	header = 62
	footer = 44
)

// axis maps times to places.
type axis struct{ from, to time.Duration }

func (a axis) x(t time.Duration) float64 {
	return left + float64(t-a.from)/float64(a.to-a.from)*(width-left-right)
}

// axisTo reaches a little beyond the last thing that is shown.
func axisTo(from, last time.Duration) axis {
	return axis{from, last + max((last-from)/25, 100*time.Millisecond)}
}

// step is the distance of an axis's labels.
func (a axis) step() time.Duration {
	for _, unit := range []time.Duration{time.Millisecond, time.Second, time.Minute, time.Hour} {
		for _, n := range []time.Duration{1, 2, 5, 10, 15, 20, 30, 50, 100, 200, 500} {
			if (a.to-a.from)/(n*unit) <= 12 {
				return n * unit
			}
		}
	}
	return (a.to - a.from) / 10
}

// draw draws the axis at the bottom of a figure, and its grid.
func (a axis) draw(c canvas, top, bottom float64, what string) {
	step := a.step()
	for t := (a.from + step - 1) / step * step; t <= a.to; t += step {
		c.line(a.x(t), top, a.x(t), bottom, 1, false, pale)
		c.text(a.x(t), bottom+18, 12, middle, grey, label(t))
	}
	c.line(left, bottom, width-right, bottom, 1, false, grey)
	c.text(width-right, bottom+36, 12, end, grey, what)
}

// label is a time, short.
func label(t time.Duration) string {
	if t < time.Second && t > 0 {
		return t.String()
	}
	return Seconds(t)
}

// Seconds is a duration in seconds with at most one decimal.
func Seconds(t time.Duration) string {
	return fmt.Sprintf("%g s", math.Round(t.Seconds()*10)/10)
}

// cross is an attempt that failed.
func cross(c canvas, x, y, r float64) {
	c.line(x-r, y-r, x+r, y+r, 2, false, failure)
	c.line(x-r, y+r, x+r, y-r, 2, false, failure)
}

// canvasOf is a new canvas for a file of a format.
func canvasOf(format string, height float64) (canvas, error) {
	if format == ".png" {
		return newPNG(width, height)
	}
	return newSVG(width, height), nil
}
