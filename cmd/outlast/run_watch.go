package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"time"

	"outlast/commands/omnigraph"
	"outlast/host"
	"outlast/ready"
)

// watching is how the server is watched while a call waits for it.
type watching struct {
	server host.Readiness // nil: nobody watches
	target string         // what it looks at
	off    string         // why not, where that may surprise
	name   *nameCheck     // of the server's host; nil: none is known
}

// chooseWatching finds what to watch: what --ready names, or the server that
// omnigraph goes to, unless a proxy stands before it.
func (w *wrapped) chooseWatching() (watching, error) {
	choice, err := ready.Parse(w.verb.Ready)
	if err != nil {
		return watching{}, usageError("--ready: %v", err)
	}
	if choice.Target != nil {
		return watching{server: ready.Server(*choice.Target), target: choice.Target.String(), name: newNameCheck(choice.Target.Host)}, nil
	}
	if w.graph == nil {
		return watching{}, nil
	}
	server, why := omnigraph.Server(w.argv, w.env)
	chosen := watching{name: newNameCheck(hostOf(server))}
	if !choice.Auto {
		return chosen, nil
	}
	if server == "" {
		chosen.off = why
		return chosen, nil
	}
	target, err := ready.Omnigraph(server)
	if err != nil {
		chosen.off = fmt.Sprintf("the server %v", err)
		return chosen, nil
	}
	if proxy, selected := ready.ProxyFor(w.env, target); selected {
		chosen.off = fmt.Sprintf("%s sends the command through a proxy; --ready says what to watch instead", proxy)
		return chosen, nil
	}
	chosen.server, chosen.target = ready.Server(target), target.String()
	return chosen, nil
}

func hostOf(server string) string {
	u, err := url.Parse(server)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// nameCheck tells a name that does not resolve from a server that is away: the
// policy waits for both, since a name may vanish in a restart, but a typing
// error shall not look like an outage.
type nameCheck struct {
	host string
	busy chan struct{} // holds one while a lookup is under way, and when it is known
}

func newNameCheck(name string) *nameCheck {
	if _, err := netip.ParseAddr(name); err == nil || name == "" {
		return nil
	}
	return &nameCheck{host: name, busy: make(chan struct{}, 1)}
}

// nameWait bounds a lookup (a choice; a resolver that does not answer is no
// proof of a typing error).
const nameWait = 5 * time.Second

// check looks the name up beside a wait, and tells if it does not exist, once.
func (c *nameCheck) check(ctx context.Context, tell func(format string, args ...any)) {
	if c == nil {
		return
	}
	select {
	case c.busy <- struct{}{}:
	default:
		return
	}
	go func() {
		lookup, cancel := context.WithTimeout(ctx, nameWait)
		defer cancel()
		_, err := net.DefaultResolver.LookupNetIP(lookup, "ip", c.host)
		var fault *net.DNSError
		switch {
		case err == nil: // it is right
		case errors.As(err, &fault) && fault.IsNotFound && ctx.Err() == nil:
			tell("the host name %s does not resolve: is it spelled right?", c.host)
		default:
			<-c.busy // unknown: ask again
		}
	}()
}
