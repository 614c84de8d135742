package show

import (
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// line is one row of a terminal that is redrawn in place. After each draw the
// cursor is back in its first column: if the terminal then becomes narrower and
// wraps the row, the cursor stays where the row begins.
type line struct {
	out     io.Writer
	columns func() int
	shown   func() bool // the terminal takes what is drawn, and shows it to the user
	ready   func() bool // it would take it at once

	unfinished bool // what the command printed last does not end in a newline
	drawn      int  // columns of what is on the screen; 0: nothing is
	below      bool // it is in the row below what the command left unfinished
}

// newLine draws through out on f.
func newLine(out io.Writer, f *os.File) *line {
	return &line{
		out:     out,
		columns: func() int { return columnsOf(f) },
		shown:   func() bool { return inForeground(f) },
		ready:   func() bool { return takesOutput(f) },
	}
}

// defaultColumns are those of a terminal that does not tell, as a serial line
// does not.
const defaultColumns = 80

func columnsOf(f *os.File) int {
	columns, _, err := term.GetSize(int(f.Fd()))
	if err != nil || columns <= 0 {
		return defaultColumns
	}
	return columns
}

// The control sequences, which all terminals since the VT100 have.
const (
	toLineStart   = "\r"
	eraseLine     = "\x1b[K" // from the cursor on
	eraseBelow    = "\x1b[J" // and all rows below
	saveCursor    = "\x1b7"
	restoreCursor = "\x1b8"
	nextLine      = "\x1bE"       // its start; scrolls if need be, in any terminal mode
	makeRoomBelow = "\x1bD\x1b[A" // scrolls if need be, and stays in row and column
)

// draw shows a text of printable ASCII, as much of it as fits into the row.
// The last column stays empty: some terminals wrap once it is filled.
func (l *line) draw(text string) {
	if !l.shown() {
		l.forget()
		return
	}
	if !l.ready() { // the user has stopped it with Ctrl-S
		return
	}
	text = text[:min(len(text), max(1, l.columns()-1))]
	var b strings.Builder
	switch {
	case l.drawn > 0:
		b.WriteString(toLineStart)
		if l.wrapped() {
			b.WriteString(eraseBelow)
		}
	case l.unfinished:
		b.WriteString(makeRoomBelow + saveCursor + nextLine)
		l.below = true
	}
	b.WriteString(text + eraseLine + toLineStart)
	l.drawn = len(text)
	io.WriteString(l.out, b.String())
}

// wrapped says whether the row has been broken into several since it was drawn.
func (l *line) wrapped() bool { return l.columns() < l.drawn }

// erase takes the line away, and puts the cursor back where it was.
func (l *line) erase() {
	if l.drawn == 0 {
		return
	}
	if !l.shown() { // the shell is at work there by now
		l.forget()
		return
	}
	text := toLineStart + eraseLine
	if l.wrapped() {
		text = toLineStart + eraseBelow
	}
	if l.below {
		text += restoreCursor
	}
	l.forget()
	io.WriteString(l.out, text)
}

func (l *line) forget() { l.drawn, l.below = 0, false }

// finish ends a line that the command has left unfinished, so that one of
// outlast's can follow.
func (l *line) finish() {
	if l.unfinished {
		l.unfinished = false
		io.WriteString(l.out, nextLine)
	}
}
