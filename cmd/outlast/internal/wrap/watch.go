package wrap

import (
	"fmt"
	"net/url"

	"outlast/cmd/outlast/internal/exit"
	"outlast/host"
	"outlast/ready"
)

// Watch is how the server is watched while a call waits for it.
type Watch struct {
	Target *ready.Target // nil: nobody watches
	Off    string        // why not, where that may surprise
	Host   string        // the server's, whose name is looked up; "": not known
}

// chooseWatch finds what to watch: what --ready names, or the server that
// omnigraph goes to, unless a proxy stands before it.
func (p *Plan) chooseWatch(seen *Seen) error {
	choice, err := ready.Parse(p.Flags.Ready)
	if err != nil {
		return exit.Usage("--ready: %v", err)
	}
	switch {
	case choice.Target != nil:
		p.Watch = Watch{Target: choice.Target, Host: choice.Target.Host}
	case p.Command.Graph == nil:
	case !choice.Auto:
		p.Watch = Watch{Host: hostOf(seen.Server)}
	default:
		p.Watch = watchServer(p.Env, seen)
	}
	return nil
}

// watchServer watches omnigraph's server.
func watchServer(env []string, seen *Seen) Watch {
	w := Watch{Host: hostOf(seen.Server)}
	if seen.Server == "" {
		w.Off = seen.NoServer
		return w
	}
	target, err := ready.Omnigraph(seen.Server)
	if err != nil {
		w.Off = fmt.Sprintf("the server %v", err)
		return w
	}
	if proxy, selected := ready.ProxyFor(env, target); selected {
		w.Off = fmt.Sprintf("%s sends the command through a proxy; --ready says what to watch instead", proxy)
		return w
	}
	w.Target = &target
	return w
}

// server is what the host watches; nil: nothing.
func (w *Watch) server() host.Readiness {
	if w.Target == nil {
		return nil
	}
	return ready.Server(*w.Target)
}

// shown is the target for messages; "": there is none.
func (w *Watch) shown() string {
	if w.Target == nil {
		return ""
	}
	return w.Target.String()
}

func hostOf(server string) string {
	u, err := url.Parse(server)
	if err != nil {
		return ""
	}
	return u.Hostname()
}
