// Package plainyaml reads YAML that means just what it says: one document without
// anchors, aliases, tags and directives, whose brackets nest a little.
package plainyaml

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Fault is why a text is not read.
type Fault struct {
	Line    int // 0: not known
	Message string
}

func (f *Fault) Error() string { return fmt.Sprintf("line %d: %s", f.Line, f.Message) }

// maxBrackets is how deep brackets may nest (a choice: settings need three, and
// the parser takes seconds where there are thousands).
const maxBrackets = 8

// Parse reads a text. root is nil if the text is empty; the error is a *Fault.
func Parse(text string) (root ast.Node, err error) {
	defer func() {
		if recover() != nil { // the parser's own fault, which must not end a command
			root, err = nil, &Fault{Message: "cannot be read as YAML"}
		}
	}()
	tokens := lexer.Tokenize(text + "\n") // without it, the lexer passes over some last words
	if err := plain(tokens); err != nil {
		return nil, err
	}
	parsed, err := parser.Parse(tokens, 0)
	if err != nil {
		return nil, syntax(err)
	}
	for _, doc := range parsed.Docs {
		switch {
		case doc.Body == nil:
		case root != nil:
			return nil, &Fault{Line(doc.Body), "a second document: expected one"}
		default:
			root = doc.Body
		}
	}
	return root, nil
}

// plain refuses YAML that means something else than it says, some of which the
// parser passes over where it stands alone.
func plain(tokens token.Tokens) error {
	depth := 0
	for _, t := range tokens {
		switch t.Type {
		case token.AnchorType, token.AliasType, token.TagType, token.DirectiveType, token.MergeKeyType:
			return &Fault{t.Position.Line, fmt.Sprintf("%.40q is an anchor, an alias, a tag or a directive: expected plain keys and values", t.Value)}
		case token.SequenceStartType, token.MappingStartType:
			depth++
		case token.SequenceEndType, token.MappingEndType:
			depth--
		}
		if depth > maxBrackets {
			return &Fault{t.Position.Line, "too many brackets in brackets"}
		}
	}
	return nil
}

// syntax is the parser's error as a fault.
func syntax(err error) error {
	known, ok := err.(interface {
		GetToken() *token.Token
		GetMessage() string
	})
	if !ok || known.GetToken() == nil || known.GetToken().Position == nil {
		message, _, _ := strings.Cut(err.Error(), "\n")
		return &Fault{Message: message}
	}
	return &Fault{known.GetToken().Position.Line, known.GetMessage()}
}

// Line is where a node stands.
func Line(n ast.Node) int {
	if t := n.GetToken(); t != nil && t.Position != nil {
		return t.Position.Line
	}
	return 1
}

// Members are those of a mapping; ok is false for what is none.
func Members(n ast.Node) (list []*ast.MappingValueNode, ok bool) {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, true
	}
	return nil, false
}
