package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// services are what is called, by the framework that each is made with.
var services = []string{"FastAPI", "Express", "net/http"}

// process is a service that can be killed and started again.
type process struct {
	argv    []string
	url     string
	ledger  string
	running *exec.Cmd
	ended   chan error
}

func (r *run) service(name, dir string) (*process, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	listener.Close()
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	here := filepath.Join(r.checkout, "tests", "services")
	argv := map[string][]string{
		"FastAPI":  {r.python(), filepath.Join(here, "service.py")},
		"Express":  {"node", filepath.Join(here, "service.mjs")},
		"net/http": {self, serveVerb},
	}[name]
	ledger := filepath.Join(dir, "ledger")
	return &process{argv: append(argv, port, ledger), url: "http://127.0.0.1:" + port, ledger: ledger}, nil
}

// start begins the process, and returns when its service has answered: the moment at
// which it was back for anybody who asked.
func (p *process) start() (time.Time, error) {
	p.running = exec.Command(p.argv[0], p.argv[1:]...)
	p.running.Stderr = os.Stderr
	if err := p.running.Start(); err != nil {
		return time.Time{}, err
	}
	p.ended = make(chan error, 1)
	go func() { p.ended <- p.running.Wait() }()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Second}
	for {
		response, err := client.Get(p.url + "/readyz")
		if err == nil {
			response.Body.Close()
			return time.Now(), nil
		}
		select {
		case err := <-p.ended:
			return time.Time{}, fmt.Errorf("%s ended: %v", p.argv, err)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// patience is how long a service may take to end when it is asked to (a choice).
const patience = 10 * time.Second

// stop ends the process by a signal, and returns when it is gone.
func (p *process) stop(by syscall.Signal) time.Time {
	p.running.Process.Signal(by)
	select {
	case <-p.ended:
	case <-time.After(patience):
		p.running.Process.Kill()
		<-p.ended
	}
	return time.Now()
}
