//go:build unix

package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// fault is what becomes of a request that came.
type fault struct {
	name     string
	acts     int
	broken   bool // its connection breaks
	final    bool // a read may end with it
	cut      bool // which xmlrpc does not see
	redirect bool
	refusal  bool // a server that refuses before it acts does not act before this
	do       func(x *exchange) (kept bool)
}

const (
	never = iota
	perhaps
	always
)

// exchange is a request, and what is to become of it.
type exchange struct {
	s    *server
	c    net.Conn
	r    *request
	acts bool
}

var answers = fault{do: func(x *exchange) bool { return x.says(http.StatusOK, "", x.done()) }}

var faults = []fault{
	{name: "closed in the request", broken: true, do: func(x *exchange) bool { return false }},
	{name: "reset", acts: perhaps, broken: true, do: func(x *exchange) bool { x.act(); reset(x.c); return false }},
	{name: "closed", acts: perhaps, broken: true, do: func(x *exchange) bool { x.act(); return false }},
	{name: "reset, and acted on later", acts: never, broken: true, do: later},
	{name: "an answer that is cut", acts: perhaps, broken: true, cut: true, do: func(x *exchange) bool {
		x.act()
		fmt.Fprintf(x.c, "HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nContent-Length: 1000\r\n\r\n%s", x.done()[:5])
		return false
	}},
	// A client may take this for an answer that makes no sense.
	{name: "an answer that is cut in its head", acts: perhaps, broken: true, final: true, do: func(x *exchange) bool {
		x.act()
		io.WriteString(x.c, "HTTP/1.1 20")
		return false
	}},
	{name: "no HTTP", acts: perhaps, final: true, do: func(x *exchange) bool {
		x.act()
		io.WriteString(x.c, "220 mail.example ESMTP\r\n\r\n")
		return false
	}},
	{name: "429, Retry-After 0", acts: perhaps, refusal: true, do: status(http.StatusTooManyRequests, "Retry-After: 0\r\n")},
	{name: "429, Retry-After 1", acts: perhaps, refusal: true, do: status(http.StatusTooManyRequests, "Retry-After: 1\r\n")},
	{name: "503, Retry-After 0", acts: perhaps, refusal: true, do: status(http.StatusServiceUnavailable, "Retry-After: 0\r\n")},
	{name: "503, Retry-After 1", acts: perhaps, refusal: true, do: status(http.StatusServiceUnavailable, "Retry-After: 1\r\n")},
	{name: "503", acts: perhaps, refusal: true, do: status(http.StatusServiceUnavailable, "")},
	{name: "502", acts: perhaps, do: status(http.StatusBadGateway, "")},
	{name: "500", acts: perhaps, final: true, do: status(http.StatusInternalServerError, "")},
	{name: "404", final: true, do: status(http.StatusNotFound, "")},
	{name: "409", acts: perhaps, final: true, refusal: true, do: status(http.StatusConflict, "")},
	{name: "301 to a dead port", acts: perhaps, redirect: true, do: func(x *exchange) bool { return x.sendsOn(http.StatusMovedPermanently, x.s.dead) }},
	{name: "303 to a dead port", acts: perhaps, redirect: true, do: func(x *exchange) bool { return x.sendsOn(http.StatusSeeOther, x.s.dead) }},
	{name: "307 to a dead port", acts: perhaps, redirect: true, do: func(x *exchange) bool { return x.sendsOn(http.StatusTemporaryRedirect, x.s.dead) }},
	// What is read there ends a write as ok, so that it must have been applied.
	{name: "301 to itself", acts: always, redirect: true, do: func(x *exchange) bool { return x.sendsOn(http.StatusMovedPermanently, x.s.url) }},
	{name: "303 to itself", acts: always, redirect: true, do: func(x *exchange) bool { return x.sendsOn(http.StatusSeeOther, x.s.url) }},
	{name: "307 to itself", acts: never, redirect: true, do: func(x *exchange) bool { return x.sendsOn(http.StatusTemporaryRedirect, x.s.url) }},
	{name: "slow", acts: perhaps, do: func(x *exchange) bool { time.Sleep(2 * limit); x.act(); return false }},
}

// act reads the request whole, and applies it if that is to be.
func (x *exchange) act() {
	io.Copy(io.Discard, x.r.Body)
	if x.acts {
		x.s.apply(x.r)
	}
}

// later is a server that takes a request in, breaks, and carries it out all the same.
func later(x *exchange) bool {
	x.act()
	reset(x.c)
	x.s.late.Go(func() {
		time.Sleep(x.s.ms(1, 200))
		x.s.apply(x.r)
	})
	return false
}

func (x *exchange) says(code int, header, body string) bool {
	x.act()
	_, err := fmt.Fprintf(x.c, "HTTP/1.1 %d %s\r\n%sContent-Type: text/xml\r\nContent-Length: %d\r\n\r\n%s", code, http.StatusText(code), header, len(body), body)
	return err == nil
}

func status(code int, header string) func(x *exchange) bool {
	return func(x *exchange) bool { return x.says(code, header, "no") }
}

func (x *exchange) sendsOn(code int, to string) bool {
	// Another address each time: some clients refuse what they have seen.
	return x.says(code, "Location: "+to+x.r.URL.Path+"?"+x.r.URL.RawQuery+"h\r\n", "")
}

// done is the answer to a request that was carried out.
func (x *exchange) done() string {
	text := "done " + x.r.part() + ";"
	if x.r.client == xmlrpc {
		return "<?xml version='1.0'?><methodResponse><params><param><value><string>" + text + "</string></value></param></params></methodResponse>"
	}
	return text
}

func reset(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
	c.Close()
}
