package fields

// message is a pointer that is a message.
type message[T any] interface {
	*T
	Message
}

// nested is a place for messages inside a message: a list of them, or one that
// may be missing.
type nested struct {
	array  bool
	count  int
	inside func(i int) Message // it is made where there is none
}

// Optional lists a message inside this one that may be missing.
func Optional[T any, M message[T]](l *List, name string, to **T) *Field {
	f := l.add(name, nil)
	if *to != nil {
		f.nested.count = 1
	}
	f.nested.inside = func(int) Message {
		if *to == nil {
			*to = new(T)
		}
		return M(*to)
	}
	return f
}

// Items lists an array of messages.
func Items[T any, M message[T]](l *List, name string, to *[]T) *Field {
	f := l.add(name, nil)
	f.nested.array, f.nested.count = true, len(*to)
	f.nested.inside = func(i int) Message {
		if i == len(*to) {
			*to = append(*to, *new(T))
		}
		return M(&(*to)[i])
	}
	return f
}
