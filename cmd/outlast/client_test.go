package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"syscall"
)

// ask is the scripts' command "ask URL": one request, and no retry. It reports a
// connection that is refused as omnigraph does; the error itself is real.
func ask() {
	response, err := http.Get(os.Args[1])
	var refused syscall.Errno
	switch {
	case errors.As(err, &refused) && refused == syscall.ECONNREFUSED:
		fmt.Fprintf(os.Stderr, "Error: \n   0: error sending request for url (%s)\n   1: client error (Connect)\n"+
			"   2: tcp connect error\n   3: %v (os error %d)\n\nLocation:\n   ask\n", os.Args[1], refused, int(refused))
		os.Exit(1)
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer response.Body.Close()
	io.Copy(os.Stdout, response.Body)
}
