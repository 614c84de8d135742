package plot

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/color"
	"io"
)

type svg struct{ out bytes.Buffer }

func newSVG(w, h float64) *svg {
	s := &svg{}
	fmt.Fprintf(&s.out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" width="%g" height="%g" font-family="Helvetica, Arial, sans-serif">`+"\n", w, h, w, h)
	s.rect(0, 0, w, h, white)
	return s
}

func hex(c color.NRGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// round keeps files small: a hundredth of a pixel is nothing.
func round(x float64) string { return fmt.Sprintf("%.6g", float64(int64(x*100+0.5))/100) }

func (s *svg) rect(x, y, w, h float64, c color.NRGBA) {
	fmt.Fprintf(&s.out, `<rect x="%s" y="%s" width="%s" height="%s" fill="%s"/>`+"\n", round(x), round(y), round(w), round(h), hex(c))
}

func (s *svg) line(x1, y1, x2, y2, width float64, dashed bool, c color.NRGBA) {
	dash := ""
	if dashed {
		dash = ` stroke-dasharray="6 4"`
	}
	fmt.Fprintf(&s.out, `<line x1="%s" y1="%s" x2="%s" y2="%s" stroke="%s" stroke-width="%g"%s/>`+"\n", round(x1), round(y1), round(x2), round(y2), hex(c), width, dash)
}

func (s *svg) disc(x, y, r float64, c color.NRGBA) {
	fmt.Fprintf(&s.out, `<circle cx="%s" cy="%s" r="%s" fill="%s"/>`+"\n", round(x), round(y), round(r), hex(c))
}

func (s *svg) text(x, y, size float64, at anchor, c color.NRGBA, text string) {
	fmt.Fprintf(&s.out, `<text x="%s" y="%s" font-size="%g" text-anchor="%s" fill="%s">`, round(x), round(y), size, at, hex(c))
	xml.EscapeText(&s.out, []byte(text)) // into a buffer: it does not fail
	s.out.WriteString("</text>\n")
}

func (s *svg) write(w io.Writer) error {
	s.out.WriteString("</svg>\n")
	_, err := w.Write(s.out.Bytes())
	return err
}
