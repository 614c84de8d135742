package httpretry

import (
	"net/http"
	"time"

	"outlast/host"
)

// Options are a transport's, and for single requests changed by With. The zero value
// is the policy network as it comes.
type Options struct {
	// Policy decides; nil: host.Default. It goes by what was seen of the request, the
	// answer's status and its Retry-After: of an answer's body nothing is read.
	Policy *host.Policy

	// Follow is what is gone by instead: what is in force at a request's first failure.
	Follow *host.Followed

	// MaxWait is how long a request waits for a server that is away; 0: the policy's
	// window.
	MaxWait time.Duration

	// Spread is host.Task's: how far apart requests start that see their server return; 0:
	// the policy's.
	Spread time.Duration

	// Attempts is the most attempts that a request makes, the first one included; 0: the
	// policy alone decides.
	Attempts int64

	// Budget is the time for all of a request's attempts and waits; 0: none. The deadline
	// of a request's context, as of http.Client.Timeout, counts too, and ends an
	// attempt.
	Budget time.Duration

	// AttemptTimeout ends an attempt that has no answer's header by then, in real time;
	// 0: never.
	AttemptTimeout time.Duration

	// Repeatable says of which writes a repeat is harmless: they are then tried again as
	// reads are, whatever became of the attempt before. nil: of none. A PUT that is
	// repeated can overwrite what somebody else has written since. See Routes.
	Repeatable func(*http.Request) bool

	// HonoursKey says of which requests the server knows a repeat by its
	// Idempotency-Key, and answers it as it did the first. A write that has that header
	// is then tried again as a read is. nil: of none. See Routes.
	HonoursKey func(*http.Request) bool

	// RefusesBeforeActing is host.Call's.
	RefusesBeforeActing bool

	// OnlyRequest is the caller's word that base, which is no *http.Transport, sends each
	// request that it gets at most once, and nothing else. Without it a write by such a
	// base is made once. If it is wrong, a write may be applied twice. A write with an
	// Idempotency-Key has no GetBody there, by which net/http would send it again.
	OnlyRequest bool

	// On is host.Task's: which of base's own errors mean a server that is away.
	On func(error) bool

	// Ready says where the server's health is asked for while requests wait, so that
	// writes go on as soon as it is good. A path, such as /readyz, is asked of each
	// request's own address; a URL, as ready.Parse reads it, stands for requests to its
	// host, at any port; "off": nobody looks. Else, and for requests to other hosts, it is
	// looked whether the request's own address accepts connections, which wakes reads.
	//
	// Nobody looks where base may connect elsewhere: by a proxy, by a Proxy that is not
	// http.ProxyFromEnvironment, or by a DialContext that is not a net.Dialer's without a
	// Resolver, LocalAddr and Control, except at a URL. For a base that is no
	// *http.Transport a look wakes requests, but leaves no attempt out.
	Ready string

	// Label names a request for messages and observers; nil: by method and host.
	Label func(*http.Request) string

	// Observe gets the events of all requests, on their goroutines. For one of a single
	// request, set it by With.
	Observe host.Observer

	// Secrets are replaced in what errors and events quote.
	Secrets []string

	// Clock is the time that the policy lives by, for tests; nil: host.SystemClock.
	Clock host.Clock

	// Off sends requests by base alone.
	Off bool
}

// Routes says of requests whether one of these patterns matches, which are those of
// http.ServeMux: "PUT /settings/{name}", "POST api.example/orders", "DELETE /tmp/". It
// is for Repeatable and HonoursKey. A path that the mux would redirect matches nothing.
// Bad patterns panic, as http.ServeMux.Handle does.
func Routes(patterns ...string) func(*http.Request) bool {
	mux := http.NewServeMux()
	for _, pattern := range patterns {
		mux.Handle(pattern, route{})
	}
	return func(r *http.Request) bool {
		known := *r
		if known.Host == "" {
			known.Host = r.URL.Host
		}
		handler, _ := mux.Handler(&known)
		_, ok := handler.(route)
		return ok
	}
}

// route marks what a pattern matches.
type route struct{ http.Handler }
