package fields

// message is a pointer that is a message.
type message[T any] interface {
	*T
	Message
}

// nested is a place for messages inside a message: one that may be missing, or a
// list of them.
type nested interface {
	array() bool
	count() int
	inside(i int) Message // it is made where there is none
}

// Optional lists a message inside this one that may be missing.
func Optional[T any, M message[T]](l *List, name string, to **T) *Field {
	f := l.add(name)
	f.nested = optional[T, M]{to}
	return f
}

// Items lists an array of messages.
func Items[T any, M message[T]](l *List, name string, to *[]T) *Field {
	f := l.add(name)
	f.nested = items[T, M]{to}
	return f
}

// Both are one pointer, so that an interface holds them without memory of its own.
type (
	optional[T any, M message[T]] struct{ to **T }
	items[T any, M message[T]]    struct{ to *[]T }
)

func (optional[T, M]) array() bool { return false }

func (o optional[T, M]) count() int {
	if *o.to == nil {
		return 0
	}
	return 1
}

func (o optional[T, M]) inside(int) Message {
	if *o.to == nil {
		*o.to = new(T)
	}
	return M(*o.to)
}

func (items[T, M]) array() bool  { return true }
func (a items[T, M]) count() int { return len(*a.to) }

func (a items[T, M]) inside(i int) Message {
	if i == len(*a.to) {
		*a.to = append(*a.to, *new(T))
	}
	return M(&(*a.to)[i])
}
