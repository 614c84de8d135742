package plot

import (
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"math"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// scale is pixels of a PNG for one of an SVG (a choice, for sharp screens).
const scale = 2

type raster struct {
	img   *image.NRGBA
	font  *opentype.Font
	faces map[float64]font.Face
	err   error
}

func newPNG(w, h float64) (*raster, error) {
	parsed, err := opentype.Parse(goregular.TTF)
	if err != nil {
		return nil, err
	}
	r := &raster{img: image.NewNRGBA(image.Rect(0, 0, int(w*scale), int(h*scale))), font: parsed, faces: map[float64]font.Face{}}
	draw.Draw(r.img, r.img.Bounds(), image.NewUniform(white), image.Point{}, draw.Src)
	return r, nil
}

// fill fills a polygon.
func (r *raster) fill(c color.NRGBA, points ...[2]float64) {
	low, high := [2]float64{math.Inf(1), math.Inf(1)}, [2]float64{}
	for _, p := range points {
		for i := range p {
			low[i], high[i] = min(low[i], p[i]*scale), max(high[i], p[i]*scale)
		}
	}
	x, y := math.Floor(low[0]), math.Floor(low[1])
	box := image.Rect(int(x), int(y), int(math.Ceil(high[0])), int(math.Ceil(high[1])))
	if box.Empty() {
		return
	}
	v := vector.NewRasterizer(box.Dx(), box.Dy())
	for i, p := range points {
		px, py := float32(p[0]*scale-x), float32(p[1]*scale-y)
		if i == 0 {
			v.MoveTo(px, py)
		} else {
			v.LineTo(px, py)
		}
	}
	v.ClosePath()
	v.Draw(r.img, box, image.NewUniform(c), image.Point{})
}

func (r *raster) rect(x, y, w, h float64, c color.NRGBA) {
	r.fill(c, [2]float64{x, y}, [2]float64{x + w, y}, [2]float64{x + w, y + h}, [2]float64{x, y + h})
}

func (r *raster) line(x1, y1, x2, y2, width float64, dashed bool, c color.NRGBA) {
	length := math.Hypot(x2-x1, y2-y1)
	if length == 0 {
		return
	}
	ux, uy := (x2-x1)/length, (y2-y1)/length
	nx, ny := -uy*width/2, ux*width/2
	dash, gap := length, 0.0
	if dashed {
		dash, gap = 6, 4
	}
	for from := 0.0; from < length; from += dash + gap {
		to := min(from+dash, length)
		ax, ay, bx, by := x1+ux*from, y1+uy*from, x1+ux*to, y1+uy*to
		r.fill(c, [2]float64{ax + nx, ay + ny}, [2]float64{bx + nx, by + ny}, [2]float64{bx - nx, by - ny}, [2]float64{ax - nx, ay - ny})
	}
}

func (r *raster) disc(x, y, radius float64, c color.NRGBA) {
	points := make([][2]float64, 32)
	for i := range points {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(len(points)))
		points[i] = [2]float64{x + radius*cos, y + radius*sin}
	}
	r.fill(c, points...)
}

func (r *raster) text(x, y, size float64, at anchor, c color.NRGBA, s string) {
	face, there := r.faces[size]
	if !there {
		var err error
		if face, err = opentype.NewFace(r.font, &opentype.FaceOptions{Size: size * scale, DPI: 72}); err != nil {
			r.err = err
			return
		}
		r.faces[size] = face
	}
	d := font.Drawer{Dst: r.img, Src: image.NewUniform(c), Face: face}
	dot := fixed.Point26_6{X: fixed.Int26_6(x * scale * 64), Y: fixed.Int26_6(y * scale * 64)}
	switch at {
	case middle:
		dot.X -= d.MeasureString(s) / 2
	case end:
		dot.X -= d.MeasureString(s)
	}
	d.Dot = dot
	d.DrawString(s)
}

func (r *raster) write(w io.Writer) error {
	if r.err != nil {
		return r.err
	}
	return png.Encode(w, r.img)
}
