package ready

import (
	"context"
	"errors"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"outlast/host"
	"outlast/internal/turns"
	"outlast/ready/meeting"
)

// What docs/looking.md says of times and numbers, where there is why.
const (
	holds    = 2 * longest            // how long a look does
	asking   = time.Second            // between two questions
	within   = 500 * time.Millisecond // which one is answered
	unheard  = 2                      // questions without an answer, after which a looker is gone
	again    = 10 * time.Second       // until what went wrong is tried again
	calls    = 10_000                 // that those may wait with
	declines = 300 * time.Millisecond // a call that gave its turn back, until it waits again
	linger   = 10 * time.Second       // that a looker sees others off, after its own calls
	spare    = 16                     // lines that it may say of each kind beyond what it is asked for (a choice)
)

// shared is what a watcher shares with other processes.
type shared struct {
	looked  time.Duration    // when the last look began, on the clock of meeting.Boot
	follows bool             // another looks
	to      *meeting.Conn    // the looker's; nil: there is none
	pending map[int64]*watch // that go, and whose attempts it has to hear of
	due     map[string]int   // how many lines it may yet say, by their first word
	check   bool             // a turn came after the last look began
	remotes int              // watches of followers
	kept    int              // of these, and of those that go and whose end is not told yet
	resting *time.Timer      // ends the watcher; nil: a call of this process waits
}

// wait tells the looker of a call that waits.
func (s *shared) wait(v *watch) {
	if s.to == nil || !v.waits || v.remote {
		return
	}
	if v.back != nil {
		v.back.Stop()
		v.back = nil
	}
	s.due["turn"]++
	least, pace := meeting.Unseen, "seldom"
	if v.looked {
		least = v.least.word()
	}
	if v.eager {
		pace = "eager"
	}
	s.to.Say("wait", v.id(), v.by.word(), least, pace)
}

// goes tells it of one that makes an attempt.
func (s *shared) goes(v *watch) {
	if s.to != nil && !v.remote {
		s.pending[v.number] = v
		s.to.Say("go", v.id())
	}
}

// went tells it how that ended.
func (s *shared) went(v *watch, how host.How) {
	if s.to != nil && s.pending[v.number] == v {
		delete(s.pending, v.number)
		s.to.Say("done", v.id(), string(how))
	}
}

func (v *watch) id() string { return strconv.FormatInt(v.number, 10) }

// word is the level as the protocol has it.
func (l level) word() string { return meeting.Levels[max(0, l)] }

func levelOf(word string) level { return level(slices.Index(meeting.Levels, word)) }

// rest ends the watcher when no call needs it any more. One that follows has the
// end of its last attempt to tell, and one that others follow sees those off to a
// server that is back; w.mu is held.
func (w *watcher) rest() {
	s := &w.shared
	wanted := time.Duration(0)
	switch {
	case w.locals > 0:
		return
	case s.to != nil && len(s.pending) > 0:
		wanted = turns.Lease
	case s.remotes > 0 && w.up:
		wanted = linger
	}
	switch {
	case wanted == 0:
		w.cancel()
	case s.resting == nil:
		s.resting = time.AfterFunc(wanted, w.cancel)
	}
}

// share meets other processes, for as long as the watcher lives.
func (w *watcher) share(ctx context.Context) {
	var gone int64
	var last string
	for ctx.Err() == nil {
		place, addresses, err := w.place(ctx)
		if err == nil && place.Name() != last {
			last, gone = place.Name(), 0
		}
		var seat *meeting.Seat
		var conn *net.UnixConn
		var term int64
		if err == nil {
			seat, conn, term, err = place.Enter(gone)
		}
		gone = 0
		switch {
		case err != nil:
			w.setFollows(false, nil)
			pause(ctx, again)
		case seat != nil:
			w.setFollows(false, nil)
			w.lead(ctx, seat, addresses)
		default:
			switch w.follow(ctx, &meeting.Conn{UnixConn: conn}, func() bool { return place.Passed(term) }) {
			case errGone:
				gone = term
			case errFull, errBroken:
				w.setFollows(false, nil)
				pause(ctx, again)
			}
		}
	}
}

// place is where those meet who look at what the watcher looks at, at the
// addresses that this has now.
func (w *watcher) place(ctx context.Context) (place *meeting.Place, addresses string, err error) {
	dir, err := w.among.dir()
	if err == nil {
		addresses, err = w.addresses(ctx)
	}
	if err == nil {
		place, err = meeting.At(dir, w.target.named(), "direct", addresses)
	}
	return place, addresses, err
}

// named is the target as other languages name it too: a host has no case.
func (t Target) named() string {
	t.Host = strings.ToLower(t.Host)
	return t.key()
}

// addresses are all that the host has, in an order of their own: a resolver may give
// them in another each time, of which the first few would be others each time too.
func (w *watcher) addresses(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	list, err := resolve(ctx, w.target.Host)
	var texts []string
	for _, a := range list {
		texts = append(texts, a.Unmap().String())
	}
	slices.Sort(texts)
	return strings.Join(slices.Compact(texts), ","), err
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// setFollows begins or ends to go by what another sees.
func (w *watcher) setFollows(follows bool, to *meeting.Conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := &w.shared
	s.to = to
	if s.follows != follows {
		s.follows, w.up = follows, false
		w.good, w.ready = time.Time{}, false // its own looks may be long ago
		w.beginTurns()
		w.wakeUp()
	}
}

var (
	errGone = errors.New("the looker is gone")
	errFull = errors.New("the looker has too many followers")
	// errBroken is no reason to look in its place: it would be followed again.
	errBroken = errors.New("the looker says more than it is asked for")
)

// follow has the calls of this process wait for what a looker says, until that is
// gone. passed says whether another has followed it.
func (w *watcher) follow(ctx context.Context, conn *meeting.Conn, passed func() bool) error {
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	w.introduce(conn)
	defer w.forget(conn)
	f := &following{watcher: w, conn: conn}
	f.ask()
	for {
		m, err := conn.Hear()
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			if f.silent() && (f.questions >= unheard || passed()) {
				return errGone
			}
			f.ask()
		case err != nil:
			return errGone
		case !w.wanted(m[0]):
			return errBroken
		case m[0] == "full":
			return errFull
		case m[0] == "turn":
			w.turn(m[1], levelOf(m[2]), meeting.Until(m[3]))
		case meeting.Until(m[2]) > meeting.Boot():
			f.answered()
			w.setFollows(true, conn)
			w.hears(levelOf(m[1]), f.asked)
		}
	}
}

// introduce tells a looker of the calls that wait.
func (w *watcher) introduce(conn *meeting.Conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := &w.shared
	s.to, s.pending, s.due = conn, map[int64]*watch{}, map[string]int{"here": spare, "turn": spare, "full": 1}
	for e := w.line.Front(); e != nil; e = e.Next() {
		s.wait(e.Value.(*watch))
	}
}

// asks notes that the looker is asked whether it is there.
func (w *watcher) asks() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.shared.due["here"]++
}

// wanted says whether a looker was asked for what it says. One that says more would
// keep the process busy with what is of no use to it.
func (w *watcher) wanted(word string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.shared.due[word]--
	return w.shared.due[word] >= 0
}

func (w *watcher) forget(conn *meeting.Conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.shared.to == conn {
		w.shared.to, w.shared.pending = nil, nil
	}
	w.rest()
}

// hears has the calls that waited already remember what a looker saw, as if they
// had: a server that was away then can come back.
func (w *watcher) hears(l level, asked time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for e := w.line.Front(); e != nil; e = e.Next() {
		if v := e.Value.(*watch); asked.Sub(v.began) > holds {
			v.saw(v.from+1, l)
		}
	}
}

// following is what a follower knows of its looker.
type following struct {
	watcher   *watcher
	conn      *meeting.Conn
	asked     time.Time // the last question
	questions int       // that were not answered
}

func (f *following) ask() {
	f.asked = time.Now()
	f.questions++
	f.watcher.asks()
	f.conn.Say("ask")
	f.conn.SetReadDeadline(f.asked.Add(within))
}

func (f *following) answered() {
	f.questions = 0
	f.conn.SetReadDeadline(f.asked.Add(asking))
}

// silent says whether a question was not answered in time. Who was itself stopped
// cannot tell.
func (f *following) silent() bool {
	if late := time.Since(f.asked); f.questions > 0 && late > 2*within {
		f.questions = 0
	}
	return f.questions > 0
}
