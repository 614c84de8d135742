package main

import (
	"fmt"
	"net"
	"net/http"
)

type demoServerVerb struct {
	Listen string `arg:"" help:"The address to listen at."`
}

// Run serves until it is killed. It prints its address once it listens.
func (v *demoServerVerb) Run() error {
	listener, err := net.Listen("tcp", v.Listen)
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr())
	return http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "42 people know %s\n", r.URL.Query().Get("name"))
	}))
}
