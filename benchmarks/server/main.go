// Command server is the server that the tools of the benchmark call: a real
// process, which is killed and started again. It says on stdout when it began to
// accept, in nanoseconds of the wall clock, and then the path of each write that
// it applied.
package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"time"
)

func main() {
	listener, err := net.Listen("tcp", os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(time.Now().UnixNano())
	fmt.Fprintln(os.Stderr, http.Serve(listener, http.HandlerFunc(answer)))
	os.Exit(1)
}

func answer(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/mutate") {
		fmt.Println(r.URL.Path) // one write(2), so lines do not mix
	}
	fmt.Fprintln(w, `{"rows":[{"p.slug":"ada"}],"columns":["p.slug"]}`)
}
