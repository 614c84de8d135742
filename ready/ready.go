// Package ready sees whether a server is back, so that a call which waits for
// it need not sleep through its return.
//
//	choice, err := ready.Parse("http://graph:8080/healthz")
//	…
//	task.Ready = ready.Server(*choice.Target)
//
// A look connects to the target on all its addresses at once, and over HTTP asks
// for its health; a server of omnigraph's says more: see Omnigraph. A look sends
// no token, cookie or user name, follows no redirect and uses no proxy.
//
// The calls of a process that wait for the same target share its looks, and go to
// it in turn when it is back; there are none while nobody waits. On Linux those of
// all processes of a user do, as docs/looking.md has it.
package ready

import (
	"sync"

	"outlast/host"
	"outlast/ready/meeting"
)

// Server watches a target.
func Server(t Target) host.Readiness { return server{t, watchers} }

type server struct {
	target   Target
	watchers *registry
}

// Watch implements host.Readiness.
func (s server) Watch(eager bool, news func()) host.Watch {
	return s.watchers.join(s.target, eager, news)
}

// watchers are the watchers of this process, by target.
var watchers = newRegistry(look, meeting.Dir)

type registry struct {
	look     looker
	dir      func() (string, error) // where processes meet; nil: nowhere
	mu       sync.Mutex
	byTarget map[string]*watcher
}

func newRegistry(l looker, dir func() (string, error)) *registry {
	return &registry{look: l, dir: dir, byTarget: map[string]*watcher{}}
}

// join adds a watch to the target's watcher, which begins to look with the first.
func (r *registry) join(t Target, eager bool, news func()) *watch {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := t.key()
	w := r.byTarget[key]
	if w == nil {
		w = newWatcher(t, r)
		r.byTarget[key] = w
	}
	v := &watch{eager: eager, news: news}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.add(v)
	return v
}

// leave takes a watch out. The watcher is left with its last one.
func (r *registry) leave(v *watch) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := v.watcher
	w.mu.Lock()
	defer w.mu.Unlock()
	if v.place == nil {
		return
	}
	w.drop(v)
	w.shared.goes(v)
	if key := w.target.key(); w.locals == 0 && r.byTarget[key] == w {
		delete(r.byTarget, key)
	}
	w.rest()
}
