//go:build unix

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// serve applies each write it is sent by appending its name to the file, which
// a kill does not undo, and then answers. It takes its time between the steps,
// so that a kill can come in each.
func serve(address, file string) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	ledger, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("ready")
	for {
		conn, err := listener.Accept()
		if err != nil {
			os.Exit(1)
		}
		go func() {
			defer conn.Close()
			request, err := http.ReadRequest(bufio.NewReader(conn))
			if err != nil {
				return
			}
			linger()
			fmt.Fprintln(ledger, strings.TrimPrefix(request.URL.Path, "/"))
			linger()
			fmt.Fprint(conn, "HTTP/1.1 200 OK\r\nContent-Length: 8\r\nConnection: close\r\n\r\nwritten\n")
		}()
	}
}

func linger() { time.Sleep(time.Duration(rand.IntN(3000)) * time.Microsecond) }

// dieVar tells a client after how many microseconds to kill itself.
const dieVar = "OUTER_DIE_US"

// write makes the request once, and reports what went wrong as omnigraph does.
func write(url, id string) int {
	if us, err := strconv.Atoi(os.Getenv(dieVar)); err == nil {
		time.AfterFunc(time.Duration(us)*time.Microsecond, func() { syscall.Kill(os.Getpid(), syscall.SIGKILL) })
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Post(url+"/"+id, "text/plain", strings.NewReader("x"))
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
	fmt.Fprint(os.Stderr, "\nLocation:\n   outer\n")
	return 1
}
