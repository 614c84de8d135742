package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"syscall"
)

type demoClientVerb struct {
	URL string `arg:"" help:"The server."`
}

// Run makes one request, without a retry of its own. It reports a connection
// that could not be made in the way omnigraph does, so that the policy which
// knows omnigraph knows it too; the error itself is the real one.
func (v *demoClientVerb) Run() error {
	response, err := http.Get(v.URL + "/graphs/people/query?name=Ada")
	if err != nil {
		var refused syscall.Errno
		if errors.As(err, &refused) && errors.Is(err, syscall.ECONNREFUSED) {
			fmt.Fprintf(os.Stderr, "Error: \n   0: error sending request for url (%s)\n   1: client error (Connect)\n"+
				"   2: tcp connect error\n   3: %v (os error %d)\n\nLocation:\n   demo\n", v.URL, refused, int(refused))
			return &exitError{code: 1}
		}
		return &exitError{1, err}
	}
	defer response.Body.Close()
	_, err = io.Copy(stdout, response.Body)
	return err
}
