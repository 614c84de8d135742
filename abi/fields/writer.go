package fields

import "outlast/abi/strictjson"

// Writer writes messages.
type Writer struct {
	strictjson.Writer
	lists []*List
	depth int
}

// Write is a message as JSON.
func Write(m Message) []byte {
	var w Writer
	w.Message(m)
	return w.Bytes
}

// Message writes a message. What a missing member says as well is left out.
func (w *Writer) Message(m Message) {
	if w.depth == len(w.lists) {
		w.lists = append(w.lists, &List{})
	}
	list := w.lists[w.depth]
	w.depth++
	list.all = list.all[:0]
	m.Fields(list)
	w.Open('{')
	for i := range list.all {
		f := &list.all[i]
		if f.always || !f.Form.Left(f) {
			w.Name(f.Name)
			f.Form.Write(w, f)
		}
	}
	w.Close('}')
	w.depth--
}
