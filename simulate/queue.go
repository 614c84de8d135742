package simulate

import (
	"container/heap"
	"time"
)

// queue holds callers by the slot in which their waits end.
type queue struct {
	slots map[int64][]caller
	order order // of the slots that hold any
}

func (q *queue) add(c caller) {
	if q.slots == nil {
		q.slots = map[int64][]caller{}
	}
	n := int64(c.at / slot)
	list, there := q.slots[n]
	if !there {
		heap.Push(&q.order, n)
	}
	q.slots[n] = append(list, c)
}

// next is the beginning of the first slot that holds any.
func (q *queue) next() (time.Duration, bool) {
	if len(q.order) == 0 {
		return 0, false
	}
	return time.Duration(q.order[0]) * slot, true
}

// take takes the callers of a slot out, if it is the first that holds any.
func (q *queue) take(at time.Duration) []caller {
	n := int64(at / slot)
	if len(q.order) == 0 || q.order[0] != n {
		return nil
	}
	heap.Pop(&q.order)
	list := q.slots[n]
	delete(q.slots, n)
	return list
}

type order []int64

func (o order) Len() int           { return len(o) }
func (o order) Less(i, j int) bool { return o[i] < o[j] }
func (o order) Swap(i, j int)      { o[i], o[j] = o[j], o[i] }
func (o *order) Push(x any)        { *o = append(*o, x.(int64)) }
func (o *order) Pop() any {
	old := *o
	last := old[len(old)-1]
	*o = old[:len(old)-1]
	return last
}
