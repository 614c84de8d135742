//go:build unix

package measure

import "syscall"

const refused = syscall.ECONNREFUSED
