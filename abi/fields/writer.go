package fields

import "outlast/abi/strictjson"

// Writer writes messages.
type Writer struct {
	strictjson.Writer
	lists *lists
}

// Write is a message as JSON.
func Write(m Message) []byte {
	w := Writer{lists: newLists()}
	w.Message(m)
	w.lists.free()
	return w.Bytes
}

// Message writes a message. What a missing member says as well is left out.
func (w *Writer) Message(m Message) {
	list := w.lists.enter(m)
	w.Open('{')
	for i := range list.all {
		f := &list.all[i]
		if f.always || !f.left() {
			w.Name(f.name)
			w.field(f)
		}
	}
	w.Close('}')
	w.lists.leave()
}

// field writes the value of a field.
func (w *Writer) field(f *Field) {
	switch at := f.at.(type) {
	case *string:
		w.String(*at)
	case *bool:
		w.Bool(*at)
	case **bool:
		w.Bool(**at)
	case *int64:
		w.Int(*at)
	case **int64:
		w.Int(**at)
	case Form:
		at.Write(w)
	default:
		if f.array {
			w.items(f)
		} else {
			w.Message(f.inside(0))
		}
	}
}

func (w *Writer) items(f *Field) {
	w.Open('[')
	for i := range f.count {
		w.Message(f.inside(i))
	}
	w.Close(']')
}
