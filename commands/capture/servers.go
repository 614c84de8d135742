//go:build unix

package main

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
	"time"
)

// unresolvable is a name that resolves nowhere (RFC 2606).
const unresolvable = "nosuch.invalid"

func listen() (net.Listener, string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return l, port
}

// closed is a port on which nobody listens.
func closed() string {
	l, port := listen()
	check(l.Close())
	return port
}

// silent is a port where connections are never accepted nor refused: its listen
// queue is full, so the kernel drops what asks for more.
func (s *stage) silent() string {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	check(err)
	check(syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	check(syscall.Listen(fd, 0))
	address, err := syscall.Getsockname(fd)
	check(err)
	port := strconv.Itoa(address.(*syscall.SockaddrInet4).Port)
	s.cleanup = append(s.cleanup, func() { syscall.Close(fd) })
	for {
		c, err := net.DialTimeout("tcp", "127.0.0.1:"+port, time.Second)
		if err != nil {
			return port
		}
		s.cleanup = append(s.cleanup, func() { c.Close() })
	}
}

// hangsUp accepts each connection and closes it, as a proxy does whose server
// is away.
func (s *stage) hangsUp() string {
	return s.accepts(func(c net.Conn) { c.Close() })
}

// accepts listens on a port of its own, and hands each connection to each until
// the stage is cleared.
func (s *stage) accepts(each func(net.Conn)) (port string) {
	l, port := listen()
	s.cleanup = append(s.cleanup, func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			each(c)
		}
	}()
	return port
}

// diesAfter serves one connection and is gone when it has answered: nobody
// listens any more while it does.
func diesAfter(serve func(net.Conn, *bufio.Reader)) string {
	l, port := listen()
	go func() {
		c, err := l.Accept()
		check(err)
		l.Close()
		serve(c, bufio.NewReader(c))
		c.Close()
	}()
	return port
}

// request reads an HTTP request with its body.
func request(r *bufio.Reader) *http.Request {
	q, err := http.ReadRequest(r)
	check(err)
	_, err = io.Copy(io.Discard, q.Body)
	check(err)
	return q
}

// web serves HTTP until the command's scenes are over.
func (s *stage) web(h http.HandlerFunc) string {
	l, port := listen()
	server := &http.Server{Handler: h}
	go server.Serve(l)
	s.cleanup = append(s.cleanup, func() { server.Close() })
	return port
}

// certificate is for a server that speaks HTTP/2 by TLS; it is Go's for tests.
func (s *stage) certificate() *tls.Config {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	s.cleanup = append(s.cleanup, server.Close)
	return &tls.Config{Certificates: server.TLS.Certificates, NextProtos: []string{"h2"}}
}

// plain makes a command run as a plain user: servers refuse to be root.
func plain(cmd *exec.Cmd) *exec.Cmd {
	if os.Geteuid() == 0 {
		uid, gid := plainIDs()
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	}
	return cmd
}

// own gives files to the plain user.
func own(paths ...string) {
	if os.Geteuid() != 0 {
		return
	}
	uid, gid := plainIDs()
	for _, path := range paths {
		check(os.Chown(path, uid, gid))
	}
}

func plainIDs() (uid, gid int) {
	u := plainUser()
	uid, err := strconv.Atoi(u.Uid)
	check(err)
	gid, err = strconv.Atoi(u.Gid)
	check(err)
	return uid, gid
}

// plainUser is who servers run as.
func plainUser() *user.User {
	if os.Geteuid() != 0 {
		u, err := user.Current()
		check(err)
		return u
	}
	for _, name := range []string{"postgres", "nobody"} {
		if u, err := user.Lookup(name); err == nil {
			return u
		}
	}
	panic("there is no plain user to run servers as")
}

// start starts a server and waits until its port accepts connections.
func (s *stage) start(cmd *exec.Cmd, port string) {
	check(cmd.Start())
	s.cleanup = append(s.cleanup, func() { stop(cmd) })
	if port != "" {
		accepts(port)
	}
}

func stop(cmd *exec.Cmd) {
	cmd.Process.Signal(syscall.SIGKILL)
	cmd.Wait()
}

func accepts(port string) {
	for range 200 {
		c, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err == nil {
			c.Close()
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	panic(fmt.Sprintf("no server came up on port %s", port))
}

// have says whether servers are there, and which is not.
func have(servers ...string) bool {
	for _, name := range servers {
		if _, err := exec.LookPath(name); err != nil {
			fmt.Fprintf(os.Stderr, "scenes left out: %v\n", err)
			return false
		}
	}
	return true
}

// quiet is for servers that would tell of each client's failure.
var quiet = log.New(io.Discard, "", 0)
