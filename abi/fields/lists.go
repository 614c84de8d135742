package fields

import "sync"

// lists has the fields of the messages that are being read or written, one
// inside the other, in memory that is used again.
type lists struct {
	of    [levels]List
	depth int
}

// levels is as deep as requests and answers go (a choice: an event's result in
// an envelope).
const levels = 5

var pool = sync.Pool{New: func() any { return new(lists) }}

func newLists() *lists { return pool.Get().(*lists) }

func (l *lists) free() { pool.Put(l) }

// enter is the fields of a message inside the others that have been entered.
func (l *lists) enter(m Message) *List {
	list := &List{} // deeper than that
	if l.depth < levels {
		list = &l.of[l.depth]
	}
	l.depth++
	list.all = list.all[:0]
	m.Fields(list)
	return list
}

func (l *lists) leave() { l.depth-- }
