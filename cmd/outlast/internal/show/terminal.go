package show

import (
	"os"

	"golang.org/x/term"
)

// IsTerminal asks about a file, and changes nothing about it: File.Fd would make
// it a blocking one for everybody who shares it.
func IsTerminal(f *os.File) bool {
	yes := false
	raw, err := f.SyscallConn()
	if err == nil {
		err = raw.Control(func(fd uintptr) { yes = term.IsTerminal(int(fd)) })
	}
	return err == nil && yes
}
