package logs

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// lineEvery is the least time between lines about a crowd that still waits (a choice:
// twelve a minute show that an outage goes on, and drown nothing).
const lineEvery = 5 * time.Second

// crowds are the calls of a program that wait, by what for.
type crowds struct {
	mu      sync.Mutex
	waiting map[crowdKey]*crowd
}

type crowdKey struct{ policy, kind string }

// crowd are the calls that met one outage. The first is told of by itself.
type crowd struct {
	key     crowdKey
	inside  int            // calls that have not ended
	counted int            // all but the first
	ended   map[string]int // of those that are counted, by how
	told    time.Time      // when the latest line was; at first, when the crowd began
}

// enter puts a call that begins to wait among those that wait already. It is counted,
// and not told of by itself, if there is one.
func (c *crowds) enter(key crowdKey) (in *crowd, counted bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	in, counted = c.waiting[key], c.waiting[key] != nil
	if !counted {
		in = &crowd{key: key, ended: map[string]int{}, told: time.Now()}
		c.waiting[key] = in
	} else {
		in.counted++
	}
	in.inside++
	return in, counted
}

// leave takes a call out that has ended, and says whether it was the last and there is
// something to tell.
func (c *crowds) leave(in *crowd, how string, counted bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if counted {
		in.ended[how]++
	}
	in.inside--
	if in.inside > 0 {
		return false
	}
	delete(c.waiting, in.key)
	return in.counted > 0
}

// soFar says how many calls are counted and what became of them, "" until a line is
// due again.
func (c *crowds) soFar(in *crowd) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := time.Now()
	if at.Sub(in.told) < lineEvery {
		return ""
	}
	in.told = at
	text := fmt.Sprintf("%d more calls have waited, %d of them still do", in.counted, in.counted-in.over())
	if len(in.ended) > 0 {
		text += "; " + in.endings()
	}
	return text
}

// all says it of a crowd that is over, which nobody else has any more.
func (c *crowd) all() string { return fmt.Sprintf("%d more calls waited; %s", c.counted, c.endings()) }

func (c *crowd) over() (n int) {
	for _, ended := range c.ended {
		n += ended
	}
	return n
}

// endings is such as "298 ok, 1 exhausted", the most frequent first.
func (c *crowd) endings() string {
	hows := slices.SortedFunc(maps.Keys(c.ended), func(a, b string) int {
		return cmp.Or(cmp.Compare(c.ended[b], c.ended[a]), cmp.Compare(a, b))
	})
	for i, how := range hows {
		hows[i] = fmt.Sprintf("%d %s", c.ended[how], how)
	}
	return strings.Join(hows, ", ")
}
