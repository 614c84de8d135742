package wrap

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"time"
)

// nameCheck tells a name that does not resolve from a server that is away: the
// policy waits for both, since a name may vanish in a restart, but a typing
// error shall not look like an outage.
type nameCheck struct {
	host string
	busy chan struct{} // holds one while a lookup is under way, and when it is known
}

// newNameCheck is nil where there is no name to look up.
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
