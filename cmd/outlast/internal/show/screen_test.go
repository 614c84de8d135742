package show

import (
	"strings"
	"sync"
)

// screen is what a terminal shows of the bytes that it gets: as much of one as
// the tests need. Rows that have scrolled away are kept on top.
type screen struct {
	mu              sync.Mutex
	columns, height int
	rows            [][]byte
	top             int // the first row on the screen
	row, column     int // the cursor; column is columns where a wrap is due
	savedRow        int // relative to top
	savedColumn     int
	rest            string // of a sequence that is not complete
}

func newScreen(columns, height int) *screen {
	return &screen{columns: columns, height: height, rows: [][]byte{nil}}
}

func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := s.rest + string(b)
	for text != "" {
		n := s.take(text)
		if n == 0 {
			break
		}
		text = text[n:]
	}
	s.rest = text
	return len(b), nil
}

// take obeys what text begins with, and says how long that is: 0 if there is
// more to come.
func (s *screen) take(text string) int {
	if text[0] != '\x1b' {
		s.put(text[0])
		return 1
	}
	for sequence, do := range map[string]func(){
		eraseLine: s.eraseLine, eraseBelow: s.eraseBelow, saveCursor: s.save, restoreCursor: s.restore,
		nextLine: func() { s.down(); s.column = 0 }, "\x1bD": s.down, "\x1b[A": func() { s.row = max(s.top, s.row-1) },
	} {
		if strings.HasPrefix(text, sequence) {
			do()
			return len(sequence)
		}
	}
	if len(text) < 3 {
		return 0
	}
	panic("the screen does not know " + text[1:3])
}

func (s *screen) put(c byte) {
	switch c {
	case '\r':
		s.column = 0
	case '\n':
		s.down()
		s.column = 0
	default:
		if s.column == s.columns {
			s.down()
			s.column = 0
		}
		s.wide(s.row, s.column+1)
		s.rows[s.row][s.column] = c
		s.column++
	}
}

func (s *screen) down() {
	s.row++
	if s.row == len(s.rows) {
		s.rows = append(s.rows, nil)
	}
	s.top = max(s.top, s.row-s.height+1)
}

func (s *screen) wide(row, columns int) {
	for len(s.rows[row]) < columns {
		s.rows[row] = append(s.rows[row], ' ')
	}
}

func (s *screen) eraseLine() {
	s.rows[s.row] = s.rows[s.row][:min(s.column, len(s.rows[s.row]))]
}

func (s *screen) eraseBelow() {
	s.eraseLine()
	s.rows = s.rows[:s.row+1]
}

func (s *screen) save() { s.savedRow, s.savedColumn = s.row-s.top, s.column }

func (s *screen) restore() { s.row, s.column = s.top+s.savedRow, s.savedColumn }

// narrow makes the screen narrower: a terminal either wraps what is too wide,
// and the cursor stays with the character that it is on, or cuts it off.
func (s *screen) narrow(columns int, wraps bool) {
	s.columns = columns
	var rows [][]byte
	row, column := s.row, s.column
	for i, r := range s.rows {
		if i == row {
			s.row = len(rows)
			if wraps {
				s.row += column / columns
				s.column = column % columns
			} else {
				s.column = min(column, columns)
			}
		}
		for wraps && len(r) > columns {
			rows = append(rows, r[:columns:columns])
			r = r[columns:]
		}
		rows = append(rows, r[:min(len(r), columns)])
	}
	s.rows = rows
	s.top = max(0, len(rows)-s.height)
}

// text is all that can be seen, and what has scrolled away.
func (s *screen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var lines []string
	for _, r := range s.rows {
		lines = append(lines, strings.TrimRight(string(r), " "))
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}
