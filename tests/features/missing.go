package main

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// missing says whether any public name of these packages has one of these words.
func missing(packages string, words ...string) string {
	argv := []string{"list", "-f", "{{$dir := .Dir}}{{range .GoFiles}}{{$dir}}/{{.}}\n{{end}}"}
	out, err := exec.Command("go", append(argv, strings.Fields(packages)...)...).Output()
	if err != nil {
		return err.Error()
	}
	found := ""
	for _, file := range strings.Fields(string(out)) {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			return err.Error()
		}
		if strings.Contains(file, "/internal/") || parsed.Name.Name == "main" {
			continue
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			name, ok := n.(*ast.Ident)
			for _, word := range words {
				if ok && name.IsExported() && strings.Contains(name.Name, word) {
					found = name.Name
				}
			}
			return true
		})
	}
	if found != "" {
		return "yes: " + found
	}
	return "no"
}

// back is whether a server's return in the midst of a wait of 4 s is noticed.
func back(server, policy string, call func(url, policy string, do work) error) string {
	url := "http://127.0.0.1:" + get(server+"/away")
	began := time.Now()
	err := call(url, policy, func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		return response.Body.Close()
	})
	if err != nil {
		return fmt.Sprint("no: ", err)
	}
	return yes(time.Since(began) < 3500*ms)
}

// types is whether a program that takes another type from a call is not compiled.
func types(call string) string {
	dir, err := os.MkdirTemp("", "features-")
	if err != nil {
		return err.Error()
	}
	defer os.RemoveAll(dir)
	compiles := func(want string) bool {
		file := filepath.Join(dir, want+".go")
		text := fmt.Sprintf("package main\n%s\nfunc main() { var got %s; got, _ = call(); _ = got }\n", call, want)
		return os.WriteFile(file, []byte(text), 0o600) == nil && exec.Command("go", "vet", file).Run() == nil
	}
	return yes(compiles("string") && !compiles("int"))
}
