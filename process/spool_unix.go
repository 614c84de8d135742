//go:build unix

package process

import (
	"fmt"
	"os"
)

// inMemory is how much of the input is kept in memory: most inputs are small,
// and can so be given again where there is no room or directory for temporary
// files (a choice: what a pipe holds by default).
const inMemory = 64 << 10

// spool keeps an input: its beginning in memory, the rest in a file that no
// other process can find.
type spool struct {
	head []byte
	file *os.File // what follows the head; nil: nothing yet
	size int64    // of both
}

// append keeps b, all or nothing.
func (s *spool) append(b []byte) error {
	n := min(len(b), inMemory-len(s.head))
	if rest := b[n:]; len(rest) > 0 {
		if err := s.write(rest, s.size+int64(n)-inMemory); err != nil {
			return fmt.Errorf("keeping a copy in %s: %w", os.TempDir(), plain(err))
		}
	}
	s.head = append(s.head, b[:n]...)
	s.size += int64(len(b))
	return nil
}

func (s *spool) write(b []byte, at int64) (err error) {
	if s.file == nil {
		if s.file, err = openUnnamed(os.TempDir()); err != nil {
			return err
		}
	}
	_, err = s.file.WriteAt(b, at)
	return err
}

// readAt reads some of what is kept from at on, where there must be some.
func (s *spool) readAt(buf []byte, at int64) (int, error) {
	if at < int64(len(s.head)) {
		return copy(buf, s.head[at:]), nil
	}
	buf = buf[:min(int64(len(buf)), s.size-at)]
	n, err := s.file.ReadAt(buf, at-inMemory)
	if err != nil {
		return 0, fmt.Errorf("reading the copy: %w", plain(err))
	}
	return n, nil
}

func (s *spool) close() error {
	file := s.file
	*s = spool{}
	if file == nil {
		return nil
	}
	return file.Close()
}

// openNamed makes a file that only its owner can read, and unlinks it at once.
func openNamed(dir string) (*os.File, error) {
	file, err := os.CreateTemp(dir, "outlast-stdin-")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(file.Name()); err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}
