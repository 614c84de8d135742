// Command gopages writes a Markdown page for each Go package that others may
// import, from its doc comments. Usage: go run ./site/gopages DIR
package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/doc"
	"go/doc/comment"
	"go/format"
	"go/parser"
	"go/token"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// notForOthers are packages that serve this repository alone.
var notForOthers = regexp.MustCompile(`/(internal|tests|guest)(/|$)`)

func main() {
	if err := run(os.Args[1]); err != nil {
		log.Fatal("gopages: ", err)
	}
}

func run(dir string) error {
	list := exec.Command("go", "list", "-f", "{{.Module.Path}} {{.Name}} {{.ImportPath}} {{.Dir}}{{range .GoFiles}} {{.}}{{end}}"+
		"{{range .TestGoFiles}} {{.}}{{end}}{{range .XTestGoFiles}} {{.}}{{end}}", "./...")
	// What is only for one system is shown for this one.
	list.Env = append(os.Environ(), "GOOS=linux")
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		module, path := f[0], f[2]
		if f[1] == "main" || notForOthers.MatchString(path) {
			continue
		}
		text, err := page(module, path, f[3], f[4:])
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		name := filepath.Join(dir, strings.TrimPrefix(path, module+"/")+".md")
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// page is the documentation of the module's package at path, which files of a
// folder hold.
func page(module, path, folder string, files []string) (string, error) {
	fset := token.NewFileSet()
	var parsed []*ast.File
	for _, name := range files {
		file, err := parser.ParseFile(fset, filepath.Join(folder, name), nil, parser.ParseComments)
		if err != nil {
			return "", err
		}
		parsed = append(parsed, file)
	}
	p, err := doc.NewFromFiles(fset, parsed, path)
	if err != nil {
		return "", err
	}
	w := writer{module: module + "/", fset: fset, p: p, comments: p.Printer()}
	w.comments.HeadingLevel = 4
	w.comments.DocLinkURL = w.url
	w.all()
	return w.String(), nil
}

// A writer collects the page of the package p.
type writer struct {
	strings.Builder
	module   string // its path, and a slash
	fset     *token.FileSet
	p        *doc.Package
	comments *comment.Printer
}

func (w *writer) all() {
	fmt.Fprintf(w, "# %s\n\n```go\nimport %q\n```\n\n", strings.TrimPrefix(w.p.ImportPath, w.module), w.p.ImportPath)
	w.text(w.p.Doc)
	w.examples(w.p.Examples)
	w.values("Constants", w.p.Consts)
	w.values("Variables", w.p.Vars)
	w.funcs("##", w.p.Funcs)
	for _, t := range w.p.Types {
		fmt.Fprintf(w, "## type %s {#%[1]s}\n\n", t.Name)
		w.code(t.Decl)
		w.text(t.Doc)
		w.examples(t.Examples)
		w.values("", t.Consts)
		w.values("", t.Vars)
		w.funcs("###", t.Funcs)
		w.funcs("###", t.Methods)
	}
}

func (w *writer) values(title string, values []*doc.Value) {
	if title != "" && len(values) > 0 {
		fmt.Fprintf(w, "## %s\n\n", title)
	}
	for _, v := range values {
		w.code(v.Decl)
		w.text(v.Doc)
	}
}

func (w *writer) funcs(level string, funcs []*doc.Func) {
	for _, f := range funcs {
		name := f.Name
		if f.Recv != "" {
			name = strings.TrimPrefix(f.Recv, "*") + "." + name
		}
		fmt.Fprintf(w, "%s func %s {#%[2]s}\n\n", level, name)
		w.code(f.Decl)
		w.text(f.Doc)
		w.examples(f.Examples)
	}
}

func (w *writer) examples(examples []*doc.Example) {
	for _, e := range examples {
		w.text(cmp.Or(e.Doc, "An example:"))
		w.code(e.Code)
	}
}

func (w *writer) text(comment string) {
	w.Write(w.comments.Markdown(w.p.Parser().Parse(comment)))
	w.WriteString("\n")
}

func (w *writer) code(node any) {
	w.WriteString("```go\n")
	if err := format.Node(w, w.fset, node); err != nil {
		log.Fatal(err)
	}
	w.WriteString("\n```\n\n")
}

// url is where a doc link leads: to this page, another, or the standard library's.
func (w *writer) url(link *comment.DocLink) string {
	name := link.Name
	if link.Recv != "" {
		name = link.Recv + "." + name
	}
	if link.ImportPath == "" || link.ImportPath == w.p.ImportPath {
		return "#" + name
	}
	path, ours := strings.CutPrefix(link.ImportPath, w.module)
	if !ours {
		return link.DefaultURL("https://pkg.go.dev")
	}
	up := strings.Repeat("../", strings.Count(strings.TrimPrefix(w.p.ImportPath, w.module), "/"))
	if name == "" {
		return up + path + ".md"
	}
	return up + path + ".md#" + name
}
