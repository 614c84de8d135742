// Command ledger is a server that applies writes to a file, and dies where it
// is told to; and the client that asks it for one. Both are real processes, so
// what a client sees of a server's death is what the system makes of it.
//
//	ledger serve ADDRESS FILE PHASE
//	ledger write URL ID
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"
)

func main() {
	switch os.Args[1] {
	case "serve":
		serve(os.Args[2], os.Args[3], os.Args[4])
	case "mutate": // as omnigraph's, so that its command line is read
		os.Exit(write(os.Args[4], os.Args[2]))
	}
}

// serve answers writes. It kills itself, as kill -9 would, once in PHASE:
// connected (before it reads), read (before it writes), written (before it
// answers), answering (in the middle of the answer), or never.
func serve(address, file, phase string) {
	listener, err := net.Listen("tcp", address)
	for tries := 0; errors.Is(err, syscall.EADDRINUSE) && tries < 100; tries++ {
		time.Sleep(50 * time.Millisecond) // the one before, which was killed, may not have gone yet
		listener, err = net.Listen("tcp", address)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(listener.Addr())
	die := func(now string) {
		if phase == now {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	for {
		conn, err := listener.Accept()
		if err != nil {
			os.Exit(1)
		}
		die("connected")
		request, err := http.ReadRequest(bufio.NewReader(conn))
		if err != nil {
			conn.Close()
			continue
		}
		die("read")
		record(file, strings.TrimPrefix(request.URL.Path, "/"))
		die("written")
		fmt.Fprint(conn, "HTTP/1.1 200 OK\r\nContent-Length: 8\r\nConnection: close\r\n\r\nwrit")
		die("answering")
		fmt.Fprint(conn, "ten\n")
		conn.Close()
	}
}

// record appends a line, which a kill does not undo.
func record(file, id string) {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err == nil {
		_, err = fmt.Fprintln(f, id)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	f.Close()
}

// write makes the request once, and reports what went wrong as omnigraph does.
func write(url, id string) int {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	request, err := http.NewRequest("POST", url+"/"+id, strings.NewReader("x"))
	if err != nil {
		return 2
	}
	response, err := client.Do(request)
	if err != nil {
		var dial *net.OpError
		if errors.As(err, &dial) && dial.Op == "dial" {
			return report("error sending request for url ("+url+")", "client error (Connect)", "tcp connect error", dial.Err.Error())
		}
		return report("error sending request for url ("+url+")", "client error (SendRequest)", "connection closed before message completed")
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return report("error decoding response body", "error reading a body from connection", err.Error())
	}
	os.Stdout.Write(body)
	return 0
}

func report(causes ...string) int {
	fmt.Fprintln(os.Stderr, "Error: ")
	for i, cause := range causes {
		fmt.Fprintf(os.Stderr, "   %d: %s\n", i, cause)
	}
	fmt.Fprint(os.Stderr, "\nLocation:\n   ledger\n")
	return 1
}
