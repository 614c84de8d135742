package fields

import "outlast/abi/strictjson"

// Writer writes messages.
type Writer struct {
	strictjson.Writer
}

// Write is a message as JSON.
func Write(m Message) []byte {
	var w Writer
	w.Message(m)
	return w.Bytes
}

// Message writes a message. What a missing member says as well is left out.
func (w *Writer) Message(m Message) {
	l := List{with: w}
	w.Open('{')
	l.all(m)
	w.Close('}')
}

// visit writes a field.
func (w *Writer) visit(f *Field) {
	if !f.leftOut && (f.always || !f.left()) {
		w.Name(f.name)
		w.value(f)
	}
}

func (w *Writer) value(f *Field) {
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
	case Form:
		at.Write(w)
	case Message:
		w.Message(at)
	default:
		if f.nested.array {
			w.items(&f.nested)
		} else {
			w.Message(f.nested.inside(0))
		}
	}
}

func (w *Writer) items(list *nested) {
	w.Open('[')
	for i := range list.count {
		w.Message(list.inside(i))
	}
	w.Close(']')
}
