package wrap

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"outlast/cmd/outlast/internal/exit"
	"outlast/cmd/outlast/internal/library"
	"outlast/host"
	"outlast/internal/environ"
	"outlast/journal"
	"outlast/process"
)

// request is one for a command line, as words, with the defaults of the flags.
func request(line string, change ...func(*Flags)) *Request {
	r := &Request{Argv: strings.Fields(line), Env: []string{"HOME=/nowhere"}}
	r.Flags.Ready, r.Flags.Stdin = "auto", "replay"
	for _, c := range change {
		c(&r.Flags)
	}
	return r
}

// seen is what a look would tell where the program is the command.
func seen(t testing.TB, r *Request, known bool) *Seen {
	t.Helper()
	s := &Seen{Command: ReadLine(r.Argv, r.Env), Now: time.Second, Random: "a-random-key"}
	s.Command.Known = known
	name := r.Flags.Policy
	if name == "" {
		name = library.For(r.Argv[0])
	}
	if name != "" && !r.Flags.DescribesPolicy() {
		p, err := library.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		s.Policy = p
	}
	return s
}

func plan(t testing.TB, r *Request, s *Seen) *Plan {
	t.Helper()
	p, err := MakePlan(r, s)
	if err != nil {
		t.Fatalf("%q: %v", r.Argv, err)
	}
	return p
}

const (
	curlWrite = "curl -fsS -d a=1 http://graph:8080/people"
	graphRead = "omnigraph query find --server http://graph:8080"
)

func flag[T any](f func(*Flags) *T, value T) func(*Flags) {
	return func(flags *Flags) { *f(flags) = value }
}

func policyNamed(name string) func(*Flags) {
	return flag(func(f *Flags) *string { return &f.Policy }, name)
}
func readyAt(target string) func(*Flags) {
	return flag(func(f *Flags) *string { return &f.Ready }, target)
}
func isRead(f *Flags)       { f.Read = true }
func isRepeatable(f *Flags) { f.Repeatable = true }

// key is --idempotency-key, with the duration that the server honours it for.
func key(text string, honoured time.Duration) func(*Flags) {
	return func(f *Flags) {
		f.IdempotencyKey = IdempotencyKey{On: true, Key: text}
		if honoured > 0 {
			f.IdempotencyHonoured = &honoured
		}
	}
}

func TestWhatACallIsTakenFor(t *testing.T) {
	for _, c := range []struct {
		line  string
		known bool
		flags []func(*Flags)
		want  string
		one   any // OneRequest; nil: the rules decide
	}{
		{graphRead, true, nil, "a read over the network", nil},
		{"omnigraph mutate add --server http://graph:8080", false, nil, "a write over the network", false},
		{"omnigraph mutate add --store s.omni", false, nil, "a write of a local store", false},
		{"curl -fsS http://graph:8080/people", false, nil, "a read over the network", nil},
		{curlWrite, true, nil, "a write over the network", true},
		{curlWrite, false, nil, "a write over the network", false},
		{curlWrite, true, []func(*Flags){policyNamed("curl")}, "a write over the network", true},
		{curlWrite, true, []func(*Flags){policyNamed("git")}, "a write over the network", false},
		{curlWrite, false, []func(*Flags){isRead}, "a read over the network", nil},
		{curlWrite, false, []func(*Flags){isRepeatable}, "a write that may be repeated over the network", nil},
		{"./sync.sh", false, []func(*Flags){policyNamed("omnigraph")}, "a write over the network", false},
	} {
		r := request(c.line, c.flags...)
		p := plan(t, r, seen(t, r, c.known))
		one := any(nil)
		if o := p.Call.OneRequest; o != nil {
			one = *o
		}
		if got := p.described(); got != c.want || one != c.one {
			t.Errorf("%s, known %t: %s, one request: %v", c.line, c.known, got, one)
		}
	}
}

// Whatever the flags, a write of a program that is not known is repeated only if
// its caller says that it may be.
func TestWritesOfUnknownProgramsProveNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := []string{curlWrite, graphRead, "omnigraph mutate add --store s", "./sync.sh", "psql -c INSERT", "git push", "ssh h true"}
		r := request(rapid.SampledFrom(lines).Draw(t, "line"))
		f := &r.Flags
		f.Policy = rapid.SampledFrom([]string{"omnigraph", "witan-core", "curl", "psql"}).Draw(t, "policy")
		f.Write, f.Local, f.Repeatable = rapid.Bool().Draw(t, "write"), rapid.Bool().Draw(t, "local"), rapid.Bool().Draw(t, "repeatable")
		f.IdempotencyKey.On = f.Policy != "" && rapid.Bool().Draw(t, "key") && r.Argv[0] == "./sync.sh"
		loaded, err := library.Load(f.Policy)
		if err != nil {
			t.Fatal(err)
		}
		p, err := MakePlan(r, &Seen{Command: ReadLine(r.Argv, r.Env), Policy: loaded, Random: "k"})
		if err != nil {
			t.Fatal(err)
		}
		proves := p.Call.OneRequest == nil || *p.Call.OneRequest
		if !p.Call.Read && !f.Repeatable && (proves || p.Call.Repeatable) {
			t.Fatalf("%s: %+v", r.Argv, p.Call)
		}
	})
}

func TestAPolicyIsChosen(t *testing.T) {
	exits, attempts := "7", int64(3)
	made := func(f *Flags) { f.RetryExit, f.Attempts = &exits, &attempts }
	for _, c := range []struct {
		line    string
		flags   []func(*Flags)
		missing error
		want    string // the policy's name, or what the error says
		code    int
	}{
		{graphRead, nil, nil, "omnigraph", 0},
		{curlWrite, nil, nil, "curl", 0},
		{curlWrite, []func(*Flags){policyNamed("psql")}, nil, "psql", 0},
		{"./sync.sh", []func(*Flags){made, isRepeatable}, nil, "command-line", 0},
		{curlWrite, []func(*Flags){made, isRead}, nil, "command-line", 0},
		{"./sync.sh", []func(*Flags){made}, nil, "say --read", exit.CodeUsage},
		{"./sync.sh", []func(*Flags){made, isRead, policyNamed("curl")}, nil, "--policy and --retry-exit, --attempts", exit.CodeUsage},
		{"./sync.sh", []func(*Flags){made, isRead, func(f *Flags) { f.NoConnectRetry = true }}, nil, "--no-connect-retry and", exit.CodeUsage},
		{"./sync.sh", nil, nil, "no policy fits ./sync.sh", exit.CodeUsage},
		{"./sync.sh", []func(*Flags){isRead}, nil, "no policy fits ./sync.sh", exit.CodeUsage},
		{"./nosuch", nil, &process.StartError{ExitCode: 127, Err: errors.New("not found")}, "not found", 127},
		{curlWrite, []func(*Flags){func(f *Flags) { f.MaxWait = new(time.Duration) }}, nil, "--max-wait", exit.CodeUsage},
	} {
		r := request(c.line, c.flags...)
		s := seen(t, r, true)
		s.Missing = c.missing
		p, err := MakePlan(r, s)
		var coded *exit.Error
		switch {
		case err == nil && (c.code != 0 || p.Policy.Name() != c.want):
			t.Errorf("%s: %s, and not %s", c.line, p.Policy.Name(), c.want)
		case err != nil && (!errors.As(err, &coded) || coded.Code != c.code || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, and not %d, %s", c.line, err, c.code, c.want)
		}
	}
}

// A fleet's spread is every policy's whose waits are cut short.
func TestTheSpreadIsChosen(t *testing.T) {
	exits, attempts, spread := "7", int64(3), 5*time.Second
	given := func(f *Flags) { f.Spread = &spread }
	made := func(f *Flags) { f.RetryExit = &exits }
	for _, c := range []struct {
		line  string
		flags []func(*Flags)
		want  time.Duration
	}{
		{graphRead, nil, 30 * time.Millisecond},
		{graphRead, []func(*Flags){given}, spread},
		{curlWrite, []func(*Flags){given}, spread},
		{graphRead, []func(*Flags){given, policyNamed("witan-core")}, 0},
		{curlWrite, []func(*Flags){made, isRead}, 30 * time.Millisecond},
		{curlWrite, []func(*Flags){made, isRead, given}, spread},
		{curlWrite, []func(*Flags){made, isRead, given, func(f *Flags) { f.Attempts = &attempts }}, 0},
	} {
		r := request(c.line, c.flags...)
		p, err := MakePlan(r, seen(t, r, true))
		if err != nil || p.Policy.Spread() != c.want {
			t.Errorf("%s: %v, and not %v: %v", c.line, p.Policy.Spread(), c.want, err)
		}
	}
}

func TestIdempotencyKey(t *testing.T) {
	const placed = curlWrite + " -H Idempotency-Key:{idempotency-key}"
	budget := 2 * time.Hour
	within := func(f *Flags) { f.CallBudget = &budget }
	for _, c := range []struct {
		name, line string
		flags      []func(*Flags)
		key        string
		repeatable bool
		budget     time.Duration
		honoured   time.Duration
		fault      string
	}{
		{"none", placed, nil, "", false, 0, 0, ""},
		{"made", placed, []func(*Flags){key("", 0)}, "a-random-key", false, 0, 0, ""},
		{"given", placed, []func(*Flags){key("pay-7", 0)}, "pay-7", false, 0, 0, ""},
		{"honoured", placed, []func(*Flags){key("", 24*time.Hour)}, "a-random-key", true, 12 * time.Hour, 12 * time.Hour, ""},
		{"within a budget", placed, []func(*Flags){key("", 24*time.Hour), within}, "a-random-key", true, 2 * time.Hour, 22 * time.Hour, ""},
		{"for less than the budget", placed, []func(*Flags){key("", time.Hour), within}, "", false, 0, 0, "expected longer than the call's budget of 2h0m0s, not 1h0m0s"},
		{"honoured, and no key", placed, []func(*Flags){func(f *Flags) { f.IdempotencyHonoured = &budget }}, "", false, 0, 0, ""},
		{"not placed", curlWrite, []func(*Flags){key("", 0)}, "", false, 0, 0, "curl must be told the key"},
		{"in the environment", "./pay.sh", []func(*Flags){key("", 0), policyNamed("curl")}, "a-random-key", false, 0, 0, ""},
		{"a read", "curl -fsS http://graph:8080/people", []func(*Flags){key("", 0)}, "a-random-key", false, 0, 0, ""},
	} {
		r := request(c.line, c.flags...)
		p, err := MakePlan(r, seen(t, r, true))
		if err != nil || c.fault != "" {
			if c.fault == "" || err == nil || !strings.Contains(err.Error(), c.fault) {
				t.Errorf("%s: %v, and not %q", c.name, err, c.fault)
			}
			continue
		}
		if p.IdempotencyKey != c.key || p.Call.Repeatable != c.repeatable || p.Call.Budget != c.budget || p.Journal.Honoured != c.honoured {
			t.Errorf("%s: key %q, repeatable %t, budget %v, honoured for %v", c.name, p.IdempotencyKey, p.Call.Repeatable, p.Call.Budget, p.Journal.Honoured)
		}
		argv, env := withKey(p.Argv, p.Env, "k")
		if strings.Contains(strings.Join(argv, " "), idempotencyMark) || environ.Get(env, idempotencyVar) != "k" || environ.Get(p.Env, idempotencyVar) != "" {
			t.Errorf("%s: %q, %q", c.name, argv, env)
		}
	}
}

func TestWhatIsWatched(t *testing.T) {
	for _, c := range []struct {
		name, line, server, proxy string
		flags                     []func(*Flags)
		target, off, host         string
	}{
		{"omnigraph's server", graphRead, "http://graph:8080", "", nil, "http://graph:8080", "", "graph"},
		{"named", graphRead, "", "", []func(*Flags){readyAt("tcp://other:1")}, "tcp://other:1", "", "other"},
		{"named for another command", curlWrite, "", "", []func(*Flags){readyAt("tcp://other:1")}, "tcp://other:1", "", "other"},
		{"another command", curlWrite, "", "", nil, "", "", ""},
		{"off", graphRead, "http://graph:8080", "", []func(*Flags){readyAt("off")}, "", "", "graph"},
		{"behind a proxy", graphRead, "http://graph:8080", "http_proxy=http://p:1", nil, "", "http_proxy sends the command through a proxy", "graph"},
		{"no server", graphRead, "", "", nil, "", "nobody knows", ""},
		{"no URL that can be watched", graphRead, "ftp://graph", "", nil, "", "the server ", "graph"},
	} {
		r := request(c.line, c.flags...)
		if c.proxy != "" {
			r.Env = append(r.Env, c.proxy)
		}
		s := seen(t, r, true)
		s.Server, s.NoServer = c.server, "nobody knows"
		w := plan(t, r, s).Watch
		if !strings.HasPrefix(w.shown(), c.target) || (w.shown() == "") != (c.target == "") || !strings.HasPrefix(w.Off, c.off) || (w.Off == "") != (c.off == "") || w.Host != c.host {
			t.Errorf("%s: %s, %q, %s", c.name, w.shown(), w.Off, w.Host)
		}
		if (w.server() == nil) != (c.target == "") {
			t.Errorf("%s: watched: %v", c.name, w.server())
		}
	}
	r := request(graphRead, readyAt("nonsense://"))
	if _, err := MakePlan(r, seen(t, r, true)); err == nil || !strings.HasPrefix(err.Error(), "--ready: ") {
		t.Error(err)
	}
}

// Inside another outlast's call nothing is retried and nothing put on record,
// unless it is a write of its own.
func TestInsideAnotherOutlast(t *testing.T) {
	inside, own := "OUTLAST_ATTEMPT=2", mustKey(t, "own")
	journalled := func(f *Flags) { f.Journal, f.JournalKey = "/j", "own" }
	for _, c := range []struct {
		name   string
		env    []string
		flags  []func(*Flags)
		nested bool
		exec   bool
		kept   bool
	}{
		{"alone", nil, nil, false, false, false},
		{"alone, with a journal", nil, []func(*Flags){journalled}, false, false, true},
		{"inside", []string{inside}, nil, true, true, false},
		{"inside, and it shall be told", []string{inside}, []func(*Flags){func(f *Flags) { f.Report = "r" }}, true, false, false},
		{"inside, with a journal", []string{inside}, []func(*Flags){func(f *Flags) { f.Journal = "/j" }}, true, true, false},
		{"inside, with a key of its own", []string{inside, "OUTLAST_JOURNAL_HELD=other"}, []func(*Flags){journalled}, false, false, true},
		{"inside the same write", []string{inside, "OUTLAST_JOURNAL_HELD=x," + own}, []func(*Flags){journalled}, true, true, false},
		{"a read", nil, []func(*Flags){journalled, isRead}, false, false, false},
		{"switched off", []string{"OUTLAST_OFF=1"}, []func(*Flags){journalled}, false, true, true},
		{"not switched off", []string{"OUTLAST_OFF=no"}, nil, false, false, false},
	} {
		r := request(curlWrite, c.flags...)
		r.Env = append(r.Env, c.env...)
		p := plan(t, r, seen(t, r, true))
		if p.Nested != c.nested || p.Exec != c.exec || (p.Journal.Dir != "") != c.kept {
			t.Errorf("%s: nested %t, exec %t, journal %q", c.name, p.Nested, p.Exec, p.Journal.Dir)
		}
	}
}

func mustKey(t *testing.T, text string) string {
	t.Helper()
	k, err := journal.Given(text)
	if err != nil {
		t.Fatal(err)
	}
	return k.ID()
}

// A plan depends on its arguments, and leaves them as they are.
func TestPlansArePure(t *testing.T) {
	r := request(graphRead, func(f *Flags) { f.Write, f.Journal = true, "/j" })
	r.Env = append(r.Env, "OMNIGRAPH_BEARER_TOKEN=secret", "OMNIGRAPH_TOKEN_PROD=other", "X=y")
	s := seen(t, r, true)
	s.Server = "http://graph:8080"
	before := [][]string{slices.Clone(r.Argv), slices.Clone(r.Env)}
	one, two := plan(t, r, s), plan(t, r, s)
	if !reflect.DeepEqual(one, two) || !reflect.DeepEqual(before, [][]string{r.Argv, r.Env}) {
		t.Errorf("%+v\nand\n%+v", one, two)
	}
	if want := []string{"secret", "other"}; !slices.Equal(one.Secrets, want) {
		t.Errorf("the secrets are %q", one.Secrets)
	}
	if want := (host.Call{Label: "query", Remote: true, Started: time.Second, OneRequest: one.Call.OneRequest}); !reflect.DeepEqual(one.Call, want) {
		t.Errorf("%+v", one.Call)
	}
	if !strings.HasPrefix(one.Journal.Target, "http://graph:8080") {
		t.Errorf("%+v", one.Journal)
	}
}
