package config

import "strings"

// Fault is something wrong in a file or in the environment.
type Fault struct {
	Where   string // file:line, a file, or a variable's name
	Key     string // in a file, such as commands.curl.max-wait; "": the file itself
	Message string // what is wrong and what would be right
}

func (f Fault) Error() string {
	if f.Key == "" {
		return f.Where + ": " + f.Message
	}
	return f.Where + ": " + f.Key + ": " + f.Message
}

// Error is everything that is wrong with the settings, a fault a line.
type Error struct {
	Faults []Fault
}

func (e *Error) Error() string {
	var lines []string
	for _, f := range e.Faults {
		lines = append(lines, f.Error())
	}
	return strings.Join(lines, "\n")
}
