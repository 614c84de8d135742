// Package show tells a person, or a log, what becomes of a call.
//
// On a terminal that is one line, redrawn in place while a server is away and
// gone without a trace in the end:
//
//	outlast: unavailable for 9 s of 150 s; attempt 6 in 7 s
//	outlast: not ready for 13 s of 150 s; attempt 6 in 3 s
//
// Anywhere else it is one line of a log for each thing worth telling, as text
// or as JSON. Both name kinds and never quote the wrapped command: a caller may
// search stderr for the command's own words.
package show

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"outlast/abi"
	"outlast/cmd/outlast/internal/aside"
	"outlast/cmd/outlast/internal/safetext"
	"outlast/host"
	"outlast/internal/progress"
)

// Format is the form of what is told.
type Format string

// The formats.
const (
	Auto Format = ""     // the line on a terminal, Text elsewhere
	Text Format = "text" // log lines, on a terminal too
	JSON Format = "json" // log lines, each a JSON object
)

// Options say where and how a Printer tells.
type Options struct {
	Out     *os.File // nil: nowhere, errors included
	Format  Format
	Watched string // what is looked at while a call waits; "": nothing
	Quiet   bool   // tell nothing but errors
	Verbose bool   // tell of each attempt, and of the plugin, too

	// Progress is the call's, which takes each event before the Printer does.
	Progress *progress.State
}

// Printer tells what becomes of one call. Its methods may be called by several
// goroutines.
type Printer struct {
	options Options
	out     *aside.Writer
	log     *log // nil: nowhere

	mu       sync.Mutex
	line     *line // nil: no line in place, only log lines
	live     live  // nil: there is nothing to draw
	covered  bool  // the command has printed over what live would draw
	printing int   // writes of the command that are under way
	timer    *time.Timer
	wait     wait    // the latest
	signals  func()  // ends their handling; nil before the first line
	leftOut  [2]bool // it has been told that attempts are left out: of a server that is down, and of one that loads
	closed   bool
}

// live is what the line says at a time, and how long it is true: 0 for good.
type live func(now time.Time) (text string, next time.Duration)

// New is a Printer for a call. It writes nothing yet.
func New(o Options) *Printer {
	p := &Printer{options: o}
	if o.Out == nil {
		return p
	}
	lost := newLog(nil, o.Format == JSON)
	p.out = aside.New(o.Out, func(n int) []byte { return lost.format(lostMessage(n)) })
	p.log = newLog(p.out, o.Format == JSON)
	if o.Format == Auto && !o.Quiet && canDraw(o.Out) {
		p.line = newLine(p.out, o.Out)
	}
	return p
}

// canDraw says whether f is a terminal that knows the control sequences.
func canDraw(f *os.File) bool {
	name := os.Getenv("TERM")
	return drawsLines && name != "" && name != "dumb" && term.IsTerminal(int(f.Fd()))
}

// Close takes the line away, and waits a little for what nobody has taken yet.
// What is told after it is told in log lines.
func (p *Printer) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hide()
	if p.out != nil {
		p.out.Flush(aside.AtExit)
	}
	p.closed = true
	if p.signals != nil {
		p.signals()
		p.signals = nil
	}
}

// Observe is the call's host.Observer.
func (p *Printer) Observe(e host.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := e.(type) {
	case host.AttemptEnded:
		if e.OK {
			p.hide()
		}
		if p.options.Verbose {
			p.tell(attemptMessage(&e))
		}
	case host.Waiting:
		p.wait = newWait(&p.options.Progress.Wait, time.Now().Add(-e.At))
		if e.Again && p.line == nil && !p.options.Verbose {
			return // a log has the wait already
		}
		p.progress(p.wait.text, waitingMessage(&e))
	case host.Woken:
		if p.line == nil || p.options.Verbose {
			p.tell(message{level: info, event: "woken", text: back(e.By), fields: []slog.Attr{slog.String("by", string(e.By))}})
		}
	case host.LeftOut:
		told := &p.leftOut[0]
		if e.NotReady {
			told = &p.leftOut[1]
		}
		if p.line == nil && !*told {
			p.tell(leftOutMessage(p.options.Watched, e.NotReady))
		}
		*told = true // the wait that follows is told in the line
	case host.Unwatched:
		if p.options.Verbose {
			p.tell(message{level: info, event: "unwatched", text: "nobody watches for the server's return: " + e.Why})
		}
	case host.Repairing:
		p.progress(steady(e.Kind+"; repairing the store"), repairingMessage(&e))
	case host.Loaded:
		if p.options.Verbose {
			p.tell(loadedMessage(&e))
		}
	case host.InstanceReplaced:
		p.tell(message{level: warn, event: "instance_replaced", text: "the plugin failed, and was replaced: " + safetext.Error(e.Err)})
	case host.Stopped:
		p.hide()
	}
}

// Attempting says that attempt n begins. The line says so; of the first one
// there is nothing to say.
func (p *Printer) Attempting(n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n > 1 && p.line != nil && p.wait.attempt == n {
		p.wait.due = time.Now()
		p.show(p.wait.text)
	}
}

// Finish tells how the call ended, if that is more than the command's own
// failure. It comes after the last attempt's output. nil: nothing.
func (p *Printer) Finish(o *abi.Outcome) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hide()
	if o == nil || o.Message == "" {
		return
	}
	succeeded := o.Type == abi.OutcomeOK
	if tellsMore(o) || o.Remedy != "" || succeeded && o.Attempts > 1 && (p.line == nil || p.options.Verbose) {
		p.tell(finalMessages(o, p.options.Format == JSON)...)
	}
}

// kindFailed is what the policies call a failure that they know nothing of.
const kindFailed = "failed"

// tellsMore says whether an outcome is more than the command's own failure. Of
// one that no rule knows, the command itself has said all there is, also where
// it was a write: the report has its effects.
func tellsMore(o *abi.Outcome) bool {
	if o.Type == abi.OutcomeOK || o.Attempts > 1 || o.Reason != "" {
		return o.Type != abi.OutcomeOK
	}
	return o.Type != abi.OutcomeFailed && o.Kind != kindFailed
}

// Notice tells something else that outlast has found, such as that a host name does not
// resolve. It must hold no secret and nothing that the command printed.
func (p *Printer) Notice(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tell(message{level: warn, event: "notice", text: fmt.Sprintf(format, args...)})
}

// Pass writes what the command said, as it said it.
func (p *Printer) Pass(b []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.out == nil || len(b) == 0 {
		return
	}
	if p.line != nil {
		p.line.erase()
		p.line.unfinished = b[len(b)-1] != '\n'
		defer p.draw()
	}
	_, _ = p.out.Write(b)
}

// Error tells an error that ends the call, also when quiet: without it the
// user would see outlast's exit code and no reason.
func (p *Printer) Error(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hide()
	if p.log != nil {
		p.put(message{level: failure, event: "error", text: safetext.Error(err)})
	}
}

// Status tells what is waited for before the first attempt, such as a lock: on
// a terminal in the line, until done is called, elsewhere once.
func (p *Printer) Status(format string, args ...any) (done func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := fmt.Sprintf(format, args...)
	began := time.Now()
	p.progress(func(now time.Time) (string, time.Duration) {
		so := now.Sub(began).Truncate(time.Second)
		return text + ", for " + seconds(so), so + time.Second - now.Sub(began)
	}, message{level: warn, event: "notice", text: text})
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.hide()
	}
}

// Writer is f for the output of the command: the line is gone before any byte
// is written. Once an attempt prints, the line stays away until it has ended.
func (p *Printer) Writer(f *os.File) io.Writer {
	if p.line == nil {
		return f
	}
	return &output{printer: p, file: f, terminal: term.IsTerminal(int(f.Fd()))}
}

type output struct {
	printer  *Printer
	file     io.Writer
	terminal bool
}

// Write does not keep others from telling something: it may take its time.
func (o *output) Write(b []byte) (int, error) {
	p := o.printer
	p.mu.Lock()
	p.cover()
	p.printing++
	p.mu.Unlock()
	n, err := o.file.Write(b)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.printing--
	if n > 0 && o.terminal {
		p.line.unfinished = b[n-1] != '\n'
	}
	return n, err
}

// cover takes the line away before the command prints. In a wait the next tick
// brings it back.
func (p *Printer) cover() {
	p.line.erase()
	p.covered = p.timer == nil
}

// progress is told by the line where there is one, else by the message.
func (p *Printer) progress(l live, m message) {
	if p.line != nil && !p.closed && p.line.shown() {
		p.show(l)
		if !p.options.Verbose {
			return
		}
	}
	p.tell(m)
}

func steady(text string) live {
	return func(time.Time) (string, time.Duration) { return text, 0 }
}

// show draws what l says, now and whenever it changes.
func (p *Printer) show(l live) {
	if p.closed {
		return
	}
	p.stop()
	p.live, p.covered = l, false
	if p.signals == nil {
		p.signals = p.handleSignals()
	}
	p.draw()
}

func (p *Printer) draw() {
	if p.live == nil || p.covered {
		return
	}
	text, next := p.live(time.Now())
	if p.printing == 0 {
		p.line.draw("outlast: " + safetext.ASCII(text))
	}
	p.stop()
	if next > 0 {
		p.timer = time.AfterFunc(next, p.tick)
	}
}

func (p *Printer) tick() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.draw() // one tick too many, if it was stopped too late, does no harm
}

func (p *Printer) stop() {
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
}

func (p *Printer) hide() {
	p.stop()
	p.live = nil
	if p.line != nil {
		p.line.erase()
	}
}

// tell writes log lines, above the line if there is one.
func (p *Printer) tell(messages ...message) {
	if p.log != nil && !p.options.Quiet {
		p.put(messages...)
	}
}

func (p *Printer) put(messages ...message) {
	if p.line != nil {
		p.line.erase()
		p.line.finish()
		defer p.draw()
	}
	for _, m := range messages {
		p.log.write(m)
	}
}
