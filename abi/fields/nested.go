package fields

import "outlast/abi/strictjson"

// message is a pointer to a T that describes itself.
type message[T any] interface {
	*T
	Message
}

// Within adds a message inside this one, which is always there.
func (l *List) Within(name string, m Message) *Field { return l.Add(name, within{m}) }

type within struct{ Message }

func (w within) Read(r *Reader, _ *Field)   { r.Message(w.Message) }
func (w within) Write(to *Writer, _ *Field) { to.Message(w.Message) }
func (within) Left(*Field) bool             { return false }
func (within) Clear(*Field)                 {}
func (w within) Shape(*Field) Shape         { return Shape{Kind: "object", Of: w.Message} }

// Optional adds a message inside this one that may be missing.
func Optional[T any, M message[T]](l *List, name string, to **T) *Field {
	return l.Add(name, optional[T, M]{to})
}

type optional[T any, M message[T]] struct{ at **T }

func (o optional[T, M]) Read(r *Reader, _ *Field) {
	*o.at = new(T)
	r.Message(M(*o.at))
}

func (o optional[T, M]) Write(w *Writer, _ *Field) { w.Message(M(*o.at)) }
func (o optional[T, M]) Left(*Field) bool          { return *o.at == nil }
func (o optional[T, M]) Clear(*Field)              { *o.at = nil }
func (o optional[T, M]) Shape(*Field) Shape        { return Shape{Kind: "object", Of: M(new(T))} }

// Items adds an array of messages.
func Items[T any, M message[T]](l *List, name string, to *[]T) *Field {
	return l.Add(name, items[T, M]{to})
}

type items[T any, M message[T]] struct{ at *[]T }

func (a items[T, M]) Read(r *Reader, _ *Field) {
	r.Each(func(int) {
		var item T
		r.Message(M(&item))
		*a.at = append(*a.at, item)
	})
}

func (a items[T, M]) Write(w *Writer, _ *Field) {
	w.Open('[')
	for i := range *a.at {
		w.Message(M(&(*a.at)[i]))
	}
	w.Close(']')
}

func (a items[T, M]) Left(*Field) bool   { return len(*a.at) == 0 }
func (a items[T, M]) Clear(*Field)       { *a.at = nil }
func (a items[T, M]) Shape(*Field) Shape { return Shape{Kind: "array", Of: M(new(T))} }

// Each reads the array that comes next, item by item.
func (r *Reader) Each(read func(i int)) {
	if !r.Is(strictjson.Array) {
		return
	}
	r.In.Open()
	for i, more := 0, r.In.Item(true); more; i, more = i+1, r.In.Item(false) {
		r.path = append(r.path, step{item: i})
		read(i)
		r.leave()
	}
}
