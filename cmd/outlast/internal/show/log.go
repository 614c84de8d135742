package show

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"outlast/abi"
	"outlast/cmd/outlast/internal/safetext"
	"outlast/host"
)

// The levels of what is told.
const (
	info    = slog.LevelInfo  // all is well
	warn    = slog.LevelWarn  // the call goes on
	failure = slog.LevelError // the call has failed
)

// message is one line of a log.
type message struct {
	level  slog.Level
	event  string // as the event log names it
	text   string
	fields []slog.Attr // what the JSON form has beside the text
}

// log writes messages, each with one call.
type log struct {
	out    io.Writer
	json   *slog.JSONHandler // nil: as text
	buffer bytes.Buffer
}

func newLog(out io.Writer, json bool) *log {
	l := &log{out: out}
	if json {
		l.json = slog.NewJSONHandler(&l.buffer, nil)
	}
	return l
}

// write leaves out what cannot be written: the call matters more.
func (l *log) write(m message) { l.out.Write(l.format(m)) }

// format is a message's line, until the next one's is made.
func (l *log) format(m message) []byte {
	l.buffer.Reset()
	m.text = safetext.Line(strings.TrimPrefix(m.text, "outlast: ")) // as errors begin
	if l.json == nil {
		fmt.Fprintf(&l.buffer, "outlast: %s\n", m.text)
		return l.buffer.Bytes()
	}
	r := slog.NewRecord(time.Now().UTC(), m.level, m.text, 0)
	r.AddAttrs(slog.String("event", m.event))
	r.AddAttrs(m.fields...)
	_ = l.json.Handle(context.Background(), r)
	return l.buffer.Bytes()
}

// lostMessage says that nobody took what was told.
func lostMessage(n int) message {
	return message{level: warn, event: "notice", text: fmt.Sprintf("%d lines of outlast's are left out here, since nobody took them", n)}
}

func attemptMessage(e *host.AttemptEnded) message {
	m := message{level: info, event: "attempt_ended", fields: []slog.Attr{slog.Int64("attempt", e.Attempt), slog.Bool("ok", e.OK)}}
	how := "succeeded"
	r := &e.Result
	switch {
	case r.TimedOut:
		how = "timed out"
		m.fields = append(m.fields, slog.Bool("timed_out", true))
	case r.Signal != "":
		how = "was ended by " + r.Signal
		m.fields = append(m.fields, slog.String("signal", r.Signal))
	case r.ExitCode != nil:
		if !e.OK {
			how = "failed with exit code " + strconv.FormatInt(*r.ExitCode, 10)
		}
		m.fields = append(m.fields, slog.Int64("exit_code", *r.ExitCode))
	}
	m.text = fmt.Sprintf("attempt %d %s", e.Attempt, how)
	if r.StartedUS != nil && r.EndedUS != nil {
		took := max(0, *r.EndedUS-*r.StartedUS)
		m.text += " after " + seconds(time.Duration(took)*time.Microsecond)
		m.fields = append(m.fields, slog.Int64("took_us", took))
	}
	return m
}

func waitingMessage(e *host.Waiting) message {
	m := message{
		level: warn, event: "waiting",
		text: fmt.Sprintf("%s; attempt %d in %s", e.Kind, e.Attempt, seconds(e.Delay)),
		fields: []slog.Attr{
			slog.String("kind", e.Kind), slog.String("budget", e.Budget),
			slog.Int64("attempt", e.Attempt), slog.Int64("delay_us", e.Delay.Microseconds()),
		},
	}
	if e.Again {
		m.text = "still " + m.text
		m.fields = append(m.fields, slog.Bool("again", true))
	}
	if e.Watched != "" {
		m.fields = append(m.fields, slog.String("watched", string(e.Watched)))
	}
	if e.Remaining != nil {
		m.text += ", and at most " + seconds(*e.Remaining) + " of waiting left"
		m.fields = append(m.fields, slog.Int64("remaining_us", e.Remaining.Microseconds()))
	}
	return m
}

// leftOutMessage names what was looked at: if that is not where the command
// goes, its user has to know.
func leftOutMessage(watched string, notReady bool) message {
	m := message{
		level: warn, event: "left_out",
		text:   watched + " is seen to be down: the next attempt is made when it is back, or when the time to wait is over",
		fields: []slog.Attr{slog.String("watched", watched)},
	}
	if notReady {
		m.text = watched + " is there, and not ready yet: the next attempt is made when it is ready, or when one is due all the same"
		m.fields = append(m.fields, slog.Bool("not_ready", true))
	}
	return m
}

// back is what was seen of a server that is back: of one that is not known to be ready
// it was a connection, or a first good answer.
func back(by abi.Readiness) string {
	if by == abi.Ready {
		return "the server is ready again"
	}
	return "the server can be tried again"
}

func repairingMessage(e *host.Repairing) message {
	return message{
		level: warn, event: "repairing", text: e.Kind + "; repairing the store",
		fields: []slog.Attr{slog.String("kind", e.Kind), slog.Bool("force", e.Force)},
	}
}

func loadedMessage(e *host.Loaded) message {
	m := message{
		level: info, event: "plugin_loaded", text: "the plugin was loaded (" + e.How + ") in " + seconds(e.Took),
		fields: []slog.Attr{slog.String("how", e.How), slog.Int64("took_us", e.Took.Microseconds())},
	}
	if e.Why != "" {
		m.text += ": " + e.Why
		m.fields = append(m.fields, slog.String("why", e.Why))
	}
	return m
}

// finalMessages tell an outcome. Its message and its remedy are the policy's
// words and hold nothing of the command's; what it calls the last error does.
func finalMessages(o *abi.Outcome, json bool) []message {
	m := message{level: failure, event: "stopped", text: o.Message, fields: []slog.Attr{slog.String("outcome", string(o.Type))}}
	if o.Type == abi.OutcomeOK {
		m.level = info
	}
	for _, f := range [][2]string{
		{"kind", o.Kind}, {"effects", string(o.Effects)}, {"reason", o.Reason}, {"budget", o.Budget}, {"remedy", o.Remedy},
	} {
		if f[1] != "" {
			m.fields = append(m.fields, slog.String(f[0], f[1]))
		}
	}
	m.fields = append(m.fields, slog.Int64("attempts", o.Attempts), slog.Int64("elapsed_us", o.ElapsedUS))
	if o.Remedy == "" || json {
		return []message{m}
	}
	return []message{m, {level: m.level, text: o.Remedy}}
}
