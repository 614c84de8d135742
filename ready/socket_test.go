package ready

import (
	"context"
	"crypto/x509"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"outlast/abi"
	"outlast/host"
)

// The tests of this file look at real sockets.

// long is how long a test waits for what must come (a slow machine has time).
const long = 30 * time.Second

// target is a target on this machine, at a port where nobody listens. It is none
// of those that systems give to connections, one of which could take it before
// the test's server does.
func target(t testing.TB, scheme string) Target {
	t.Helper()
	for {
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(10000+rand.IntN(20000)))
		l, err := net.Listen("tcp", address)
		if err != nil {
			continue
		}
		l.Close()
		parsed, err := Parse(scheme + "://" + address)
		if err != nil {
			t.Fatal(err)
		}
		return *parsed.Target
	}
}

func listen(t *testing.T, to Target) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", to.address())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// serve serves HTTP at a target until it is stopped.
func serve(t *testing.T, to Target, handler http.HandlerFunc) (stop func()) {
	t.Helper()
	server := &http.Server{Handler: handler}
	l := listen(t, to)
	go server.Serve(l)
	stop = sync.OnceFunc(func() { server.Close() })
	t.Cleanup(stop)
	return stop
}

// watched is a watch of a target, and a signal of its news.
func watched(t *testing.T, to Target) (host.Watch, chan struct{}) {
	t.Helper()
	heard := make(chan struct{}, 100)
	w := Server(to).Watch(true, func() { heard <- struct{}{} })
	t.Cleanup(w.Stop)
	return w, heard
}

// eventually waits until something holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(long); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

func TestAPortComesBack(t *testing.T) {
	to := target(t, "tcp")
	w, heard := watched(t, to)
	eventually(t, "down", func() bool { return w.Seen() == host.Seen{Down: true} })
	listen(t, to)
	<-heard
	if got := w.Seen(); got != (host.Seen{Rose: abi.Accepting}) {
		t.Errorf("got %+v", got)
	}
}

// A port does not say that a server is ready, so that a write is never woken by it.
func TestAServerThatWasNeverAwayDoesNotComeBack(t *testing.T) {
	for _, scheme := range []string{"tcp", "http"} {
		to := target(t, scheme)
		var asked atomic.Int64
		serve(t, to, func(http.ResponseWriter, *http.Request) { asked.Add(1) })
		w, _ := watched(t, to)
		v := w.(*watch)
		eventually(t, "many looks", func() bool {
			v.watcher.mu.Lock()
			defer v.watcher.mu.Unlock()
			return v.watcher.latest >= 6
		})
		if got := w.Seen(); got != (host.Seen{}) {
			t.Errorf("%s: %+v", scheme, got)
		}
		if scheme == "tcp" && asked.Load() > 0 {
			t.Error("a look at a port asks for something")
		}
	}
}

func TestHealthIsConfirmed(t *testing.T) {
	to := target(t, "http")
	var healthyNow atomic.Bool
	var mu sync.Mutex
	var good []time.Time
	w, _ := watched(t, to)
	eventually(t, "down", func() bool { return w.Seen().Down })
	serve(t, to, func(rw http.ResponseWriter, r *http.Request) {
		if !healthyNow.Load() {
			rw.WriteHeader(http.StatusInternalServerError)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		good = append(good, time.Now())
	})
	eventually(t, "accepting", func() bool { return w.Seen() == host.Seen{Rose: abi.Accepting} })
	healthyNow.Store(true)
	eventually(t, "ready", func() bool { return w.Seen() == host.Seen{Rose: abi.Ready} })
	mu.Lock()
	defer mu.Unlock()
	if len(good) < 2 {
		t.Errorf("ready after %d good answers", len(good))
	}
}

// One good answer between bad ones is none.
func TestAServerThatFlaps(t *testing.T) {
	to := target(t, "http")
	var asked atomic.Int64
	w, _ := watched(t, to)
	eventually(t, "down", func() bool { return w.Seen().Down })
	serve(t, to, func(rw http.ResponseWriter, r *http.Request) {
		if asked.Add(1)%2 == 0 {
			rw.WriteHeader(http.StatusBadGateway)
		}
	})
	eventually(t, "many looks", func() bool { return asked.Load() > 10 })
	if got := w.Seen(); got.Rose == abi.Ready || got.Down {
		t.Errorf("got %+v", got)
	}
}

// What stands before a server that is away may accept, and close at once: that
// wakes nobody, and it is not down either.
func TestAProxyThatAcceptsAndCloses(t *testing.T) {
	for _, scheme := range []string{"http", "https", "tcp"} {
		t.Run(scheme, func(t *testing.T) { testAcceptsAndCloses(t, target(t, scheme)) })
	}
}

func testAcceptsAndCloses(t *testing.T, to Target) {
	w, _ := watched(t, to)
	eventually(t, "down", func() bool { return w.Seen().Down })
	l := listen(t, to)
	var closed atomic.Int64
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conn.Close()
			closed.Add(1)
		}
	}()
	eventually(t, "many looks", func() bool { return closed.Load() > 6 })
	if got := w.Seen(); got != (host.Seen{}) {
		t.Errorf("got %+v", got)
	}
}

// A check that takes longer than the time between two looks is a check all the
// same.
func TestASlowHealthCheck(t *testing.T) {
	for _, slow := range []time.Duration{60 * time.Millisecond, 150 * time.Millisecond, 400 * time.Millisecond} {
		to := target(t, "http")
		w, _ := watched(t, to)
		eventually(t, "down", func() bool { return w.Seen().Down })
		serve(t, to, func(http.ResponseWriter, *http.Request) { time.Sleep(slow) })
		eventually(t, "ready", func() bool { return w.Seen() == host.Seen{Rose: abi.Ready} })
	}
}

// A health check that hangs keeps a read no longer than a look takes from being told
// of the connection.
func TestAHealthCheckThatHangs(t *testing.T) {
	to := target(t, "http")
	w, heard := watched(t, to)
	eventually(t, "down", func() bool { return w.Seen().Down })
	release := make(chan struct{})
	serve(t, to, func(http.ResponseWriter, *http.Request) { <-release })
	defer close(release)
	<-heard
	if got := w.Seen(); got != (host.Seen{Rose: abi.Accepting}) {
		t.Errorf("got %+v", got)
	}
}

// What a look sends, and that it takes no other answer for health.
func TestALookIsModest(t *testing.T) {
	var mu sync.Mutex
	var asked []*http.Request
	answer := http.StatusOK
	to := target(t, "http")
	serve(t, to, func(rw http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, r)
		rw.Header().Set("Location", "http://"+to.address()+"/healthz")
		rw.Header().Set("Set-Cookie", "a=b")
		rw.WriteHeader(answer)
	})
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	for status, want := range map[int]level{200: healthy, 204: healthy, 301: accepting, 302: accepting, 401: accepting, 404: accepting, 500: accepting, 503: loading} {
		answer = status
		if got, _ := look(t.Context(), &to); got != want {
			t.Errorf("%d: %v, want %v", status, got, want)
		}
	}
	if len(asked) != 8 {
		t.Errorf("%d requests for 8 looks", len(asked))
	}
	for _, r := range asked {
		if r.Method != "GET" || r.RequestURI != "/healthz" || r.Host != to.address() || r.Header.Get("Authorization")+r.Header.Get("Cookie") != "" || r.UserAgent() != "outlast" {
			t.Errorf("%s %s of %s with %v", r.Method, r.RequestURI, r.Host, r.Header)
		}
	}
	to.Path, to.Statuses, answer = "/up?full=1", []int{401}, 401
	if got, _ := look(t.Context(), &to); got != healthy || asked[8].RequestURI != "/up?full=1" {
		t.Errorf("another path and status: %v, %s", got, asked[8].RequestURI)
	}
}

func TestTLSIsVerified(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	parsed, err := Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	to := *parsed.Target
	if got, _ := look(t.Context(), &to); got != accepting {
		t.Errorf("a certificate that nobody vouches for: %v", got)
	}
	roots = x509.NewCertPool()
	roots.AddCert(server.Certificate())
	defer func() { roots = nil }()
	if got, _ := look(t.Context(), &to); got != healthy {
		t.Errorf("a good certificate: %v", got)
	}
	// Its certificate is for 127.0.0.1 and example.com.
	to.Host = "localhost"
	if got, _ := look(t.Context(), &to); got != accepting {
		t.Errorf("another's certificate: %v", got)
	}
}

// All addresses of a name are tried at once, and one that serves is enough.
func TestAllAddressesAreTried(t *testing.T) {
	to := target(t, "http")
	serve(t, to, func(http.ResponseWriter, *http.Request) {})
	port := target(t, "http").Port // nobody is there
	here, nowhere := netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("127.0.0.2")
	six := netip.MustParseAddr("::1")
	if runtime.GOOS != "linux" {
		nowhere = six // elsewhere only one address of the loopback network is there
	}
	for name, c := range map[string]struct {
		port string
		list []netip.Addr
		want level
	}{
		"the first":            {to.Port, []netip.Addr{here, nowhere, six}, healthy},
		"the last":             {to.Port, []netip.Addr{six, nowhere, here}, healthy},
		"refused by each":      {port, []netip.Addr{here, six, nowhere}, down},
		"refused by the other": {to.Port, []netip.Addr{nowhere}, down},
	} {
		to := to
		to.Port = c.port
		if got, _ := lookAt(t.Context(), &to, c.list); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	to.Host = "localhost"
	if got, _ := look(t.Context(), &to); got != healthy {
		t.Errorf("a name with more addresses than one: %v", got)
	}
}

// A name that is not found here may be one that only the command can look up; one
// that was found before is gone with its server.
func TestANameThatIsGone(t *testing.T) {
	if got, _ := look(t.Context(), &Target{Scheme: "tcp", Host: "no-such-host.invalid", Port: "1"}); got != nameless && got != unanswered {
		t.Errorf("no such name: %v", got) // without a resolver nothing is known of a name
	}
	w := newWatcher(Target{}, nil)
	for _, c := range []struct{ look, want level }{
		{nameless, unanswered}, {unanswered, unanswered}, {nameless, unanswered}, {down, down}, {nameless, down}, {healthy, healthy}, {nameless, down},
	} {
		if got := w.known(c.look); got != c.want {
			t.Errorf("%v is %v, want %v", c.look, got, c.want)
		}
	}
	if got := failed(&net.DNSError{IsTimeout: true}); got != unanswered {
		t.Errorf("a resolver that does not answer: %v", got)
	}
	if got := failed(context.DeadlineExceeded); got != unanswered {
		t.Errorf("no answer in time: %v", got)
	}
}

// However many wait, one watcher looks, and it ends with the last of them.
func TestManyShareTheLooks(t *testing.T) {
	to := target(t, "http")
	var asked atomic.Int64
	serve(t, to, func(rw http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		rw.WriteHeader(http.StatusServiceUnavailable)
	})
	const callers = 2000
	began := time.Now()
	var stopped sync.WaitGroup
	start := make(chan struct{})
	watches := make(chan host.Watch, callers)
	for range callers {
		stopped.Go(func() {
			<-start
			watches <- Server(to).Watch(true, func() {})
		})
	}
	close(start)
	stopped.Wait()
	if n := len(watchers.byTarget); n != 1 {
		t.Errorf("%d watchers", n)
	}
	time.Sleep(500 * time.Millisecond)
	for range callers {
		stopped.Go(func() { w := <-watches; w.Stop(); w.Stop() })
	}
	stopped.Wait()
	looks, most := asked.Load(), int64(time.Since(began)/shortest)+1
	if looks < 1 || looks > most {
		t.Errorf("%d looks, at most %d are due", looks, most)
	}
	if n := len(watchers.byTarget); n != 0 {
		t.Errorf("%d watchers when nobody waits", n)
	}
	time.Sleep(4 * shortest)
	if more := asked.Load() - looks; more > inFlight {
		t.Errorf("%d looks more, when nobody waits", more)
	}
}

// Each watch counts for itself: one that comes later has not seen the server away.
func TestAWatchSeesOnlyWhatComesAfterIt(t *testing.T) {
	to := target(t, "tcp")
	early, heard := watched(t, to)
	eventually(t, "down", func() bool { return early.Seen().Down })
	listen(t, to)
	<-heard
	late, _ := watched(t, to)
	v := late.(*watch)
	eventually(t, "many looks", func() bool {
		v.watcher.mu.Lock()
		defer v.watcher.mu.Unlock()
		return v.watcher.latest > v.from+3
	})
	if got := late.Seen(); got != (host.Seen{}) {
		t.Errorf("the late one: %+v", got)
	}
	if got := early.Seen(); got != (host.Seen{Rose: abi.Accepting}) {
		t.Errorf("the early one: %+v", got)
	}
}

// A real outage, with real sockets, clocks and plugin.
func TestARealOutage(t *testing.T) {
	for _, call := range []host.Call{read(), write()} {
		to := target(t, "http")
		go func() {
			time.Sleep(1200 * time.Millisecond)
			serve(t, to, func(http.ResponseWriter, *http.Request) {})
		}()
		attempts := 0
		outcome, err := compiled.Run(t.Context(), &host.Task{
			Policy: graphs, Call: call, Ready: Server(to),
			Attempt: func(ctx context.Context, n int64) (abi.Result, error) {
				attempts++
				if l, _ := look(ctx, &to); l < healthy {
					return exited(1, refusedReport), nil
				}
				return exited(0, ""), nil
			},
		})
		// A third is made if this machine stands still for a second.
		if err != nil || outcome.Type != abi.OutcomeOK || attempts > 3 {
			t.Errorf("%d attempts: %+v, %v", attempts, outcome, err)
		}
	}
}

func addresses(list ...string) (out []netip.Addr) {
	for _, a := range list {
		out = append(out, netip.MustParseAddr(a))
	}
	return out
}
