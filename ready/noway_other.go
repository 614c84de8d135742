//go:build !windows

package ready

import "syscall"

// noWay are the errors of a connection that was refused, or that had no way to
// its address. The last two are those of a family of addresses that this
// machine does not have.
var noWay = []error{
	syscall.ECONNREFUSED, syscall.EHOSTUNREACH, syscall.EHOSTDOWN, syscall.ENETUNREACH, syscall.ENETDOWN,
	syscall.EADDRNOTAVAIL, syscall.EAFNOSUPPORT,
}
