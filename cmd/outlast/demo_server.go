package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
)

type demoServerVerb struct {
	Listen string `arg:"" help:"The address to listen at."`
}

// Run serves until it is killed or its standard input ends. It prints its address once it listens.
func (v *demoServerVerb) Run() error {
	listener, err := net.Listen("tcp", v.Listen)
	if err != nil {
		return err
	}
	fmt.Fprintln(stdout, listener.Addr())
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0) // the demo is over
	}()
	return http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "42 people know %s\n", r.URL.Query().Get("name"))
	}))
}
