// Command standin stands in for omnigraph, in tests alone: the real one is on
// few machines. It takes omnigraph's command line, sends one HTTP request to a
// server or writes to a folder, and fails with the texts and exit codes that
// omnigraph 0.10.0 was seen to print, colours and all. What it did it appends to
// the file $STANDIN_LOG, one JSON object a line.
//
//	omnigraph query find_people --server URL --graph G --params-file FILE
//	omnigraph mutate add_person --store PATH --params-file FILE
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	defer note(args)
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		fmt.Fprint(os.Stderr, "error: unexpected argument found\n\nUsage: omnigraph [OPTIONS] <COMMAND>\n")
		return 2
	}
	params, err := os.ReadFile(after(args, "--params-file"))
	if err != nil {
		params = []byte(after(args, "--params"))
	}
	if store := after(args, "--store"); store != "" {
		return local(args[0], store, string(params))
	}
	return remote(args[0], after(args, "--server"), after(args, "--graph"), string(params))
}

func after(args []string, flag string) string {
	for i, arg := range args[:len(args)-1] {
		if arg == flag {
			return args[i+1]
		}
	}
	return ""
}

// local writes a line to the store's ledger, or reads them all. It fails with
// the text $STANDIN_FAILS, if there is one.
func local(verb, store, params string) int {
	path := filepath.Join(store, "ledger")
	if text := os.Getenv("STANDIN_FAILS"); text != "" {
		return report(text)
	}
	if verb == "query" {
		lines, err := os.ReadFile(path)
		if err != nil {
			return report("storage: Dataset at path " + store + " was not found: Not found: " + path)
		}
		rows := strings.Split(strings.TrimSpace(string(lines)), "\n")
		fmt.Printf(`{"rows":[%s],"columns":[]}`+"\n", strings.Join(rows, ","))
		return 0
	}
	err := os.MkdirAll(store, 0o755)
	if err == nil {
		err = appendLine(path, strings.TrimSpace(params))
	}
	if err != nil {
		return report(err.Error())
	}
	return 0
}

// remote sends one request, on a connection of its own.
func remote(verb, server, graph, params string) int {
	url := server + "/graphs/" + graph + "/" + verb
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Post(url, "application/json", strings.NewReader(params))
	var op *net.OpError
	switch {
	case errors.As(err, &op) && op.Op == "dial":
		return report("error sending request for url ("+url+")", "client error (Connect)", "tcp connect error", "Connection refused (os error 111)")
	case err != nil:
		return report("error sending request for url ("+url+")", "client error (SendRequest)", "connection closed before message completed")
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return report("error decoding response body", "error reading a body from connection", "end of file before message length reached")
	}
	if response.StatusCode == http.StatusOK {
		os.Stdout.Write(body)
		return 0
	}
	var fault struct{ Error string }
	if json.Unmarshal(body, &fault) != nil || fault.Error == "" {
		return report("server returned " + response.Status + ": " + string(body))
	}
	if response.StatusCode == http.StatusPreconditionFailed {
		fmt.Fprintln(os.Stderr, fault.Error)
		return 4
	}
	return report(fault.Error)
}

// report prints a failure as omnigraph does: a message and its causes.
func report(texts ...string) int {
	fmt.Fprint(os.Stderr, "Error: \n")
	for i, text := range texts {
		fmt.Fprintf(os.Stderr, "   %d: \x1b[91m%s\x1b[0m\n", i, text)
	}
	fmt.Fprint(os.Stderr, "\nLocation:\n   \x1b[35mcrates/omnigraph-cli/src/helpers.rs\x1b[0m:\x1b[35m515\x1b[0m\n\n"+
		"Backtrace omitted. Run with RUST_BACKTRACE=1 environment variable to display it.\n"+
		"Run with RUST_BACKTRACE=full to include source snippets.\n")
	return 1
}

// note tells the test what was run, by whom, and whether anybody held the lock
// of the store meanwhile.
func note(args []string) {
	path := os.Getenv("STANDIN_LOG")
	if path == "" {
		return
	}
	locked := false
	if store := after(append(args, ""), "--store"); store != "" {
		locked = isLocked(store + ".lock")
	}
	line, err := json.Marshal(map[string]any{
		"args": args, "pid": os.Getpid(), "ppid": os.Getppid(), "locked": locked, "argv0": os.Args[0],
	})
	if err == nil {
		err = appendLine(path, string(line))
	}
	if err != nil {
		panic(err)
	}
}

func appendLine(path, line string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = file.WriteString(line + "\n")
	return err
}
