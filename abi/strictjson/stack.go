package strictjson

// stack holds parts of the values that are not complete yet, and gives complete
// ones memory of exactly their size: growing a slice for each object would cost
// more than reading it.
type stack[T any] struct {
	list []T
	room []T // for complete ones
}

// stackRoom is how many parts are made room for at a time (a choice: a request
// has about 15).
const stackRoom = 16

func (s *stack[T]) mark() int { return len(s.list) }

func (s *stack[T]) since(mark int) []T { return s.list[mark:] }

func (s *stack[T]) push(part T) {
	if s.list == nil {
		s.list = make([]T, 0, stackRoom)
	}
	s.list = append(s.list, part)
}

// take removes what was pushed since a mark.
func (s *stack[T]) take(mark int) []T {
	parts := s.list[mark:]
	n := len(parts)
	if n > len(s.room) {
		s.room = make([]T, max(n, stackRoom))
	}
	taken := s.room[:n:n]
	s.room = s.room[n:]
	copy(taken, parts)
	s.list = s.list[:mark]
	return taken
}
