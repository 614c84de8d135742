package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// RelayOptions are a Relay's; the zero value changes nothing for the command.
type RelayOptions struct {
	// KillAfter is how long a process may go on after it was sent SIGINT, SIGTERM,
	// SIGHUP or SIGQUIT, until it is killed with all that it started. 0: as long
	// as it likes, since it may well handle the signal and go on.
	KillAfter time.Duration

	// Refused is told at once, on a goroutine of the relay's, of a signal that the
	// system did not let it pass on. nil: nobody is.
	Refused func(error)
}

// Relay stands between the signals that reach this process and the attempts of
// a command, so that they have the effect that they would have on the command alone.
//
// SIGINT, SIGTERM, SIGHUP and SIGQUIT, and on Linux all others that by default end
// a program and can be caught, such as a SIGALRM from the alarm(2) of whoever ran
// this process, are passed on to the attempt that runs, each time they come. What
// the attempt does about them is its own affair, but after the first of them no
// further attempt is made. When no attempt runs they cancel the relay's context
// with an Interrupt; another one after that ends this process, if it has not ended
// by itself within a second. SIGUSR1 and SIGUSR2 are passed on, and do nothing when
// no attempt runs.
//
// Without a controlling terminal the child's group also gets SIGWINCH, SIGTSTP
// and SIGCONT; at SIGTSTP this process stops too, after the group.
//
// With one, the child is in this process's group and the kernel signals it itself:
// what is typed there (Ctrl-C, Ctrl-\, Ctrl-Z) is not passed on a second time. If
// the child stops itself in the terminal's foreground, this process stops too
// (Linux only), so that the shell gets its prompt.
//
// SIGPIPE no longer ends this process: a write to a reader who is gone gives
// EPIPE. A signal that was ignored when this process began stays ignored, and is
// for the child; one that was blocked is passed on, and waits in the child, where
// it is blocked too. Package atstart says where that is known; Go's runtime keeps
// SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGCHLD, SIGURG, SIGPROF and
// SIGSTKFLT for itself: the child gets the default of these.
//
// On Windows, Ctrl-C and the closing of a console reach the child by
// themselves; nothing is passed on.
type Relay struct {
	options   RelayOptions
	asked     <-chan struct{} // closed when no further attempt shall be made
	cancel    context.CancelCauseFunc
	signals   chan os.Signal
	continued chan os.Signal // SIGCONT, apart, so that a SIGTSTP can see it
	pipes     chan os.Signal // SIGPIPE, which nobody reads
	caught    chan struct{}  // closed once all that is passed on is caught
	quit      chan struct{}
	over      chan struct{}

	mu        sync.Mutex
	attempt   bool             // one is being started, or runs, or its output is read
	current   *process         // its process, once it is started
	early     []syscall.Signal // came before that
	changed   bool             // a child stopped or ended before that
	first     syscall.Signal   // of those that ask this process to end; 0: none came
	passed    map[syscall.Signal]bool
	cancelled bool
	kill      *time.Timer
	reaping   *time.Timer
}

// NewRelay catches this process's signals until Stop. The Go runtime takes some
// 0.03 ms for each (measured), which the caller can use otherwise: the first
// attempt waits for that, and until then they have their default effect.
//
// Attempts whose Command has this relay take the context that it returns, which
// is cancelled when no further attempt shall be made. One relay serves one call,
// and a process has one at a time.
func NewRelay(ctx context.Context, options RelayOptions) (*Relay, context.Context) {
	ctx, cancel := context.WithCancelCause(ctx)
	r := &Relay{
		options: options, asked: ctx.Done(), cancel: cancel,
		// A choice: far more than come while one is handled.
		signals: make(chan os.Signal, 64), continued: make(chan os.Signal, 1), pipes: make(chan os.Signal, 1),
		caught: make(chan struct{}), quit: make(chan struct{}), over: make(chan struct{}),
	}
	go r.run()
	return r, ctx
}

// Stop gives the signals back their default effect, and cancels the context.
// What the relay knows can still be asked.
func (r *Relay) Stop() {
	close(r.quit)
	<-r.over
	for _, c := range []chan os.Signal{r.signals, r.continued, r.pipes} {
		signal.Stop(c)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range []*time.Timer{r.kill, r.reaping} {
		if t != nil {
			t.Stop()
		}
	}
	r.cancel(nil)
}

// Signal is the first signal that asked this process to end; 0 if none did.
func (r *Relay) Signal() syscall.Signal {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.first
}

// ExitCode is what this process shall exit with after its last attempt, which
// is nil if there was none: the attempt's own status, as a shell gives it, also
// after a signal that it got; and 128 and the number of a signal that came when
// it did not run, unless it had succeeded. Without an attempt and a signal it
// is 0.
func (r *Relay) ExitCode(last *Ended) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.first != 0 && (last == nil || !last.heard && !last.Result.OK()) {
		return 128 + int(r.first)
	}
	if last == nil {
		return 0
	}
	return last.ShellStatus()
}

// EndsBy, asked before Stop, is the signal by which this process shall end, with
// EndBy, rather than exit with 128 and its number; 0: none. It is that which ended
// the last attempt, or the wait after it, and which this process got too: whoever
// runs it then sees what it would have seen of the command. A shell that runs it in
// a loop of a script ends the loop at Ctrl-C.
func (r *Relay) EndsBy(last *Ended) syscall.Signal {
	r.awaitTyped(last)
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case last != nil && last.Result.Signal != "":
		if s := signalNumber(last.Result.Signal); r.passed[s] || last.heard && s == r.first {
			return s
		}
		return 0
	case last != nil && (last.heard || last.Result.OK()):
		return 0
	}
	return r.first
}

// typedWait bounds the wait for this process's own SIGINT of a Ctrl-C (a choice: it
// comes at the same time, and is only handled later where the machine is busy).
const typedWait = 200 * time.Millisecond

// awaitTyped is for a last attempt that ended by SIGINT at the terminal. It waits
// until the SIGINT that the terminal sent to this process too has been seen, since
// the attempt may be over before that.
func (r *Relay) awaitTyped(last *Ended) {
	if last == nil || last.Result.Signal != signalName(syscall.SIGINT) || !isTyped(syscall.SIGINT) {
		return
	}
	for end := time.Now().Add(typedWait); r.Signal() == 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
}

// RefusedError says that a signal could not be passed on, such as to a command
// that has become another user's.
type RefusedError struct {
	Signal syscall.Signal
	Pid    int
	Err    error
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("outlast: %s could not be passed on to process %d: %v", signalName(e.Signal), e.Pid, e.Err)
}

func (e *RefusedError) Unwrap() error { return e.Err }

func (r *Relay) run() {
	defer close(r.over)
	r.catch()
	close(r.caught)
	r.catchRest()
	for {
		select {
		case s := <-r.signals:
			r.handle(s.(syscall.Signal))
		case s := <-r.continued:
			r.pass(s.(syscall.Signal))
		case <-r.quit:
			return
		}
	}
}

// end handles a signal that asks this process to end.
func (r *Relay) end(s syscall.Signal) {
	typed := isTyped(s)
	r.mu.Lock()
	defer r.mu.Unlock()
	first := r.first == 0
	if first {
		r.first = s
	}
	if !r.attempt || r.current != nil && r.current.gone() {
		r.endWithout(s)
		return
	}
	if first {
		r.hear()
	}
	if !typed {
		r.send(s)
	}
}

// impatience is how long this process may take to end after a second signal, or to
// show an attempt's output after a first (a choice): who reads that may take nothing.
const impatience = time.Second

// Commit is the last attempt's Commit, which a signal bounds: within a second of it
// the output is taken, or the error says that it was not. Only what a command prints
// that ends by itself upon a signal is waited for.
func (r *Relay) Commit(last *Ended) error {
	shown := make(chan error, 1)
	go func() { shown <- last.Commit() }()
	select {
	case err := <-shown:
		return err
	case <-r.asked:
	}
	if last.heard && last.Result.Signal == "" {
		return <-shown
	}
	select {
	case err := <-shown:
		return err
	case <-time.After(impatience):
		return errUnread
	}
}

var errUnread = errors.New("outlast: nobody took the command's output before a signal ended the call")

// endWithout ends the wait, or what is left to do after an attempt.
func (r *Relay) endWithout(s syscall.Signal) {
	if r.cancelled {
		time.AfterFunc(impatience, func() { EndBy(s) })
	}
	if r.current != nil {
		r.current.hurried.raise()
	}
	r.cancelled = true
	r.cancel(Interrupt{r.first})
}

// pass passes on a signal that does not ask this process to end.
func (r *Relay) pass(s syscall.Signal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.attempt {
		r.send(s)
	}
}

func (r *Relay) send(s syscall.Signal) {
	if r.current == nil {
		r.early = append(r.early, s)
		return
	}
	if r.passed == nil {
		r.passed = map[syscall.Signal]bool{}
	}
	r.passed[s] = true
	if s == syscall.SIGTERM {
		r.current.groupTold.Store(true)
	}
	if err := r.current.signal(s); err != nil && !r.current.gone() && r.options.Refused != nil {
		go r.options.Refused(&RefusedError{Signal: s, Pid: r.current.pid(), Err: err})
	}
}

// hear notes that the process gets the first signal; attach calls it for one
// that came early.
func (r *Relay) hear() {
	if r.current == nil {
		return
	}
	r.current.heard = true
	if r.options.KillAfter > 0 {
		r.kill = time.AfterFunc(r.options.KillAfter, r.current.overdue.raise)
	}
}

// enter begins an attempt, unless this process was asked to end.
func (r *Relay) enter() error {
	if r == nil {
		return nil
	}
	<-r.caught
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.first != 0 {
		return Interrupt{r.first}
	}
	r.attempt = true
	return nil
}

// attach sends the process what came while it was being started.
func (r *Relay) attach(p *process) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.current = p
	if r.first != 0 {
		r.hear()
	}
	for _, s := range r.early {
		r.send(s)
	}
	r.early = nil
	if r.changed {
		go r.childChanged()
	}
}

// heardBy says whether the attempt's process got the signal that asked this one to end.
func (r *Relay) heardBy(p *process) bool {
	if r == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return p.heard
}

// exited lets an attempt that a signal has ended be over soon. If it ended by
// itself after a signal, all of its output is read, however slow the reader of
// this process's output is.
func (r *Relay) exited(p *process) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.first == 0 || !p.gone() {
		return
	}
	if _, signal, err := p.end(); err == nil && signal != "" {
		p.hurried.raise()
	}
}

// leave ends an attempt. If this process was asked to end meanwhile, it was the last.
func (r *Relay) leave() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.attempt, r.current, r.early, r.changed = false, nil, nil, false
	if r.kill != nil {
		r.kill.Stop()
	}
	if r.first != 0 {
		r.cancelled = true
		r.cancel(Interrupt{r.first})
	}
}
