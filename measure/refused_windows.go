package measure

import "syscall"

// refused is WSAECONNREFUSED, for which package syscall has no name.
const refused = syscall.Errno(10061)
