// Package ready sees whether a server is back, so that a call which waits for
// it need not sleep through its return.
//
//	choice, err := ready.Parse("http://graph:8080/healthz")
//	…
//	task.Ready = ready.Server(*choice.Target)
//
// A look connects to the target on all its addresses at once, and over HTTP asks
// for its health; a server of omnigraph's says more: see Omnigraph. A look sends
// no token, cookie or user name, follows no redirect and uses no proxy. The calls of a process that wait for the same target share
// its looks, and there are none while nobody waits.
package ready

import (
	"sync"

	"outlast/host"
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
var watchers = newRegistry(look)

type registry struct {
	look     looker
	mu       sync.Mutex
	byTarget map[string]*watcher
}

func newRegistry(l looker) *registry {
	return &registry{look: l, byTarget: map[string]*watcher{}}
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
	return w.add(eager, news)
}

// leave takes a watch out. The watcher ends with its last one.
func (r *registry) leave(v *watch) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if v.watcher.remove(v) {
		delete(r.byTarget, v.watcher.target.key())
	}
}
