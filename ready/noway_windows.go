package ready

import "syscall"

// noWay are the errors of a connection that was refused, or that had no way to
// its address: WSAECONNREFUSED, WSAEHOSTUNREACH, WSAEHOSTDOWN, WSAENETUNREACH,
// WSAENETDOWN, and those of a family of addresses that this machine does not
// have, WSAEADDRNOTAVAIL and WSAEAFNOSUPPORT.
var noWay = []error{
	syscall.Errno(10061), syscall.Errno(10065), syscall.Errno(10064), syscall.Errno(10051), syscall.Errno(10050),
	syscall.Errno(10049), syscall.Errno(10047),
}
