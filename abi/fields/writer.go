package fields

import "outlast/abi/strictjson"

// Writer writes messages.
type Writer struct {
	strictjson.Writer
	list List // of the message that is being written; what is inside it uses it too
}

// usual is how many bytes most messages have at most (a choice).
const usual = 1 << 10

// Write is a message as JSON.
func Write(m Message) []byte {
	w := &Writer{}
	w.list.with = w
	w.Bytes = make([]byte, 0, usual)
	w.Message(m)
	return w.Bytes
}

// Message writes a message. What a missing member says as well is left out.
func (w *Writer) Message(m Message) {
	w.Open('{')
	w.list.all(m)
	w.Close('}')
}

// visit writes a field.
func (w *Writer) visit(f *Field) {
	if !f.omitted && (f.always || !f.isDefault()) {
		w.Name(f.name)
		w.value(f)
	}
}

func (w *Writer) value(f *Field) {
	switch {
	case f.form != nil:
		f.form.Write(w)
	case f.message != nil:
		w.Message(f.message)
	case f.nested == nil:
		w.plain(f)
	case f.nested.array():
		w.items(f.nested)
	default:
		w.Message(f.nested.inside(0))
	}
}

func (w *Writer) plain(f *Field) {
	switch at := f.at.(type) {
	case *string:
		w.String(*at)
	case *bool:
		if len(f.words) == 0 {
			w.Bool(*at)
		} else if *at {
			w.String(f.words[1])
		} else {
			w.String(f.words[0])
		}
	case **bool:
		w.Bool(**at)
	case *int64:
		w.Int(*at)
	case **int64:
		w.Int(**at)
	}
}

func (w *Writer) items(list nested) {
	w.Open('[')
	for i := range list.count() {
		w.Message(list.inside(i))
	}
	w.Close(']')
}
