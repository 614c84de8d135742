package policy

import (
	"strings"

	"outlast/abi/fields"
	"outlast/abi/strictjson"
)

// Bounds of a condition's lists: choices, as a document's.
const (
	maxWords = 200
	maxWord  = 1_000 // in bytes
	maxCode  = 65_535
)

// codesForm is the form of an array of numbers.
type codesForm []int64

func (l *codesForm) Read(r *fields.Reader) {
	n, ok := r.Each(0, func(int) {
		v := r.In.Value()
		n, ok := int64(0), false
		if v.Kind == strictjson.Number {
			n, ok = strictjson.Integer(v.Text)
		}
		if !ok || n < 0 || n > maxCode {
			r.Fault("expected a whole number from 0 to 65535, not " + show(v))
			return
		}
		*l = append(*l, n)
	})
	if ok && n == 0 {
		r.Fault("expected at least one number")
	}
}

func (l *codesForm) Write(w *fields.Writer) {
	w.Open('[')
	for _, n := range *l {
		w.Int(n)
	}
	w.Close(']')
}

func (l *codesForm) IsDefault() bool { return len(*l) == 0 }
func (l *codesForm) Clear()          { *l = nil }

func (l *codesForm) Describe(a *fields.About) {
	a.Kind, a.Low, a.Items = "array", 1, &fields.About{Kind: "integer", High: maxCode}
}

// readWords reads an array of words.
func readWords(r *fields.Reader, add func(string)) {
	n, ok := r.Each(maxWords, func(int) {
		v := r.In.Value()
		if v.Kind != strictjson.String || v.Text == "" || len(v.Text) > maxWord {
			r.Fault("expected a string of 1 to 1000 bytes, not " + show(v))
			return
		}
		add(v.Text)
	})
	if ok && (n == 0 || n > maxWords) {
		r.Fault("expected from 1 to 200 strings")
	}
}

// wordsForm is the form of an array of words.
type wordsForm []string

func (l *wordsForm) Read(r *fields.Reader) {
	readWords(r, func(s string) { *l = append(*l, s) })
}

func (l *wordsForm) Write(w *fields.Writer) {
	w.Open('[')
	for _, s := range *l {
		w.String(s)
	}
	w.Close(']')
}

func (l *wordsForm) IsDefault() bool { return len(*l) == 0 }
func (l *wordsForm) Clear()          { *l = nil }

func (l *wordsForm) Describe(a *fields.About) {
	a.Kind, a.Low, a.High, a.Items = "array", 1, maxWords, &fields.About{Kind: "string", Low: 1, High: maxWord}
}

// choicesForm is the form of an array of words, each of them one of a few.
type choicesForm[T ~string] struct {
	list *[]T
	few  []string
}

func (l choicesForm[T]) Read(r *fields.Reader) {
	readWords(r, func(s string) { *l.list = append(*l.list, T(s)) })
	for _, s := range *l.list {
		if !contains(l.few, string(s)) {
			r.Fault(`expected one of "` + strings.Join(l.few, `", "`) + `", not ` + strictjson.Quote(string(s)))
		}
	}
}

func (l choicesForm[T]) Write(w *fields.Writer) {
	w.Open('[')
	for _, s := range *l.list {
		w.String(string(s))
	}
	w.Close(']')
}

func (l choicesForm[T]) IsDefault() bool { return len(*l.list) == 0 }
func (l choicesForm[T]) Clear()          { *l.list = nil }

func (l choicesForm[T]) Describe(a *fields.About) {
	a.Kind, a.Low, a.High, a.Items = "array", 1, maxWords, &fields.About{Kind: "word", Words: l.few}
}

// Marker is words to look for, as the document has them and in lower case.
type Marker struct {
	Text  string
	lower string
}

// markersForm is the form of an array of them. They are lowered once, here.
type markersForm []Marker

func (l *markersForm) Read(r *fields.Reader) {
	readWords(r, func(s string) { *l = append(*l, Marker{s, lower(s)}) })
}

func (l *markersForm) Write(w *fields.Writer) {
	w.Open('[')
	for _, m := range *l {
		w.String(m.Text)
	}
	w.Close(']')
}

func (l *markersForm) IsDefault() bool          { return len(*l) == 0 }
func (l *markersForm) Clear()                   { *l = nil }
func (l *markersForm) Describe(a *fields.About) { (*wordsForm)(nil).Describe(a) }
