package meeting

import (
	"errors"
	"syscall"
)

var errDeaf = errors.New("it does not listen")

func (c *Conn) put(line string) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	n := 0
	failed := raw.Write(func(fd uintptr) bool {
		n, err = syscall.Write(int(fd), []byte(line)) // the descriptor does not block
		return true
	})
	if err == nil && n < len(line) {
		err = errDeaf
	}
	return errors.Join(failed, err)
}
