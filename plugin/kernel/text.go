package main

import (
	"regexp"
	"strings"
)

// node is a word of the text format, or a list in brackets.
type node struct {
	word string // "" for a list
	list []node
}

// head is the first word of a list.
func (n node) head() string {
	if len(n.list) == 0 {
		return ""
	}
	return n.list[0].word
}

var tokens = regexp.MustCompile(`;;[^\n]*|[()]|"[^"]*"|[^\s()";]+`)

// read takes a whole text, which is one list, apart.
func read(text string) node {
	open := []node{{}}
	for _, token := range tokens.FindAllString(text, -1) {
		last := len(open) - 1
		switch {
		case strings.HasPrefix(token, ";;"):
		case token == "(":
			open = append(open, node{})
		case token == ")":
			open[last-1].list = append(open[last-1].list, open[last])
			open = open[:last]
		default:
			open[last].list = append(open[last].list, node{word: token})
		}
	}
	if len(open) != 1 || len(open[0].list) != 1 {
		panic("it is not one list with every bracket closed")
	}
	return open[0].list[0]
}
