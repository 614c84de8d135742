package fields

import "outlast/abi/strictjson"

// Most is the largest magnitude of a whole number on the wire.
const Most = strictjson.MaxInteger

// String adds a text of at most so many bytes; 0 is no bound.
func (l *List) String(name string, to *string, most int64) *Field {
	f := l.Add(name, text{to})
	f.High = most
	return f
}

type text struct{ at *string }

func (t text) Read(r *Reader, f *Field) {
	if !r.Is(strictjson.String) {
		return
	}
	*t.at = r.In.String()
	if f.High > 0 && int64(len(*t.at)) > f.High {
		r.Fault("is longer than " + number(f.High) + " bytes")
	}
}

func (t text) Write(w *Writer, _ *Field) { w.String(*t.at) }
func (t text) Left(*Field) bool          { return *t.at == "" }
func (t text) Clear(*Field)              { *t.at = "" }
func (t text) Shape(f *Field) Shape      { return Shape{Kind: "string", High: f.High} }

// Flag adds a boolean. A missing one is false, unless said otherwise.
func (l *List) Flag(name string, to *bool) *Field { return l.Add(name, flag{to}) }

type flag struct{ at *bool }

func (b flag) Read(r *Reader, _ *Field) {
	if r.Is(strictjson.Bool) {
		*b.at = r.In.Bool()
	}
}

func (b flag) Write(w *Writer, _ *Field) { w.Bool(*b.at) }
func (b flag) Left(f *Field) bool        { return *b.at == f.otherwise }
func (b flag) Clear(f *Field)            { *b.at = f.otherwise }
func (b flag) Shape(*Field) Shape        { return Shape{Kind: "boolean"} }

// OptionalFlag adds a boolean that may be missing.
func (l *List) OptionalFlag(name string, to **bool) *Field { return l.Add(name, optionalFlag{to}) }

type optionalFlag struct{ at **bool }

func (b optionalFlag) Read(r *Reader, _ *Field) {
	if r.Is(strictjson.Bool) {
		is := r.In.Bool()
		*b.at = &is
	}
}

func (b optionalFlag) Write(w *Writer, _ *Field) { w.Bool(**b.at) }
func (b optionalFlag) Left(*Field) bool          { return *b.at == nil }
func (b optionalFlag) Clear(*Field)              { *b.at = nil }
func (b optionalFlag) Shape(*Field) Shape        { return Shape{Kind: "boolean"} }

// Int adds a whole number between low and high. A missing one is 0.
func (l *List) Int(name string, to *int64, low, high int64) *Field {
	f := l.Add(name, whole{to})
	f.Low, f.High = low, high
	return f
}

type whole struct{ at *int64 }

func (n whole) Read(r *Reader, f *Field)  { *n.at, _ = r.Int(f.Low, f.High) }
func (n whole) Write(w *Writer, _ *Field) { w.Int(*n.at) }
func (n whole) Left(*Field) bool          { return *n.at == 0 }
func (n whole) Clear(*Field)              { *n.at = 0 }
func (n whole) Shape(f *Field) Shape      { return Shape{Kind: "integer", Low: f.Low, High: f.High} }

// OptionalInt adds a whole number that may be missing.
func (l *List) OptionalInt(name string, to **int64, low, high int64) *Field {
	f := l.Add(name, optionalInt{to})
	f.Low, f.High = low, high
	return f
}

type optionalInt struct{ at **int64 }

func (n optionalInt) Read(r *Reader, f *Field) {
	if is, ok := r.Int(f.Low, f.High); ok {
		*n.at = &is
	}
}

func (n optionalInt) Write(w *Writer, _ *Field) { w.Int(**n.at) }
func (n optionalInt) Left(*Field) bool          { return *n.at == nil }
func (n optionalInt) Clear(*Field)              { *n.at = nil }

func (n optionalInt) Shape(f *Field) Shape {
	return Shape{Kind: "integer", Low: f.Low, High: f.High}
}

// Int reads a whole number between low and high; ok is false where it is none.
func (r *Reader) Int(low, high int64) (n int64, ok bool) {
	if !r.Is(strictjson.Number) {
		return 0, false
	}
	literal := r.In.Number()
	n, ok = strictjson.Integer(literal)
	if !ok || n < low || n > high {
		r.Fault("expected a whole number from " + number(low) + " to " + number(high) + ", not " + literal)
		return 0, false
	}
	return n, true
}

// Word adds a string that is one of some words, of which the first is what a
// missing one stands for; a first one of "" can only be missing. A reader that
// is open takes any other too: a newer plugin may have more.
func Word[T ~string](l *List, name string, to *T, words ...string) *Field {
	f := l.Add(name, word[T]{to})
	f.Words = words
	return f
}

type word[T ~string] struct{ at *T }

func (o word[T]) Read(r *Reader, f *Field) {
	if !r.Is(strictjson.String) {
		return
	}
	is := r.In.String()
	if r.OneOf(is, f.Words) || r.Open() {
		*o.at = T(is)
	}
}

func (o word[T]) Write(w *Writer, _ *Field) { w.String(string(*o.at)) }
func (o word[T]) Left(f *Field) bool        { return *o.at == "" || string(*o.at) == f.Words[0] }
func (o word[T]) Clear(f *Field)            { *o.at = T(f.Words[0]) }
func (o word[T]) Shape(f *Field) Shape      { return Shape{Kind: "word", Words: f.Words} }

// OneOf says whether a word is one that may be. Another is reported, unless the
// reader is open.
func (r *Reader) OneOf(is string, words []string) bool {
	for _, w := range words {
		if w == is && w != "" {
			return true
		}
	}
	if !r.open {
		r.Fault("expected one of " + listed(words) + ", not " + strictjson.Quote(is))
	}
	return false
}

// listed is words for a message; one that is empty cannot be given.
func listed(words []string) string {
	list := ""
	for _, w := range words {
		if list != "" {
			list += ", "
		}
		if w != "" {
			list += strictjson.Quote(w)
		}
	}
	return list
}

func number(n int64) string { return string(strictjson.AppendInt(nil, n)) }
