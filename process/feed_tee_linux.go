package process

import "golang.org/x/sys/unix"

// teeSource looks into a pipe with tee(2), which doubles what is in it. Both
// that and taking go through a pipe made here, since splice(2) can be told not to
// wait and read(2) cannot.
type teeSource struct {
	copy *ownPipe // empty between two calls
}

// openPipeSource tries tee(2) and splice(2). A sandbox may not have one of them,
// or not for pipes from outside.
func openPipeSource(fd int) (source, error) {
	scratch, err := openPipe()
	if err != nil {
		return nil, err
	}
	t := teeSource{scratch}
	_, err = t.peek(fd, make([]byte, 1))
	if _, refused := trySplice(fd, nil, t.copy.writeFD, nil, 0, 0); refused != nil {
		err = refused
	}
	switch err {
	case unix.ENOSYS, unix.EINVAL, unix.EPERM, unix.EACCES, unix.EOPNOTSUPP:
		t.close()
		return &readSource{}, nil
	}
	return t, nil // another error will come again, when it is an attempt's
}

// trySplice is splice(2); of no bytes it only tells whether there is one.
var trySplice = unix.Splice

func (t teeSource) close() { t.copy.close() }

// peek asks twice before it believes an end: between two steps in the kernel
// another reader may empty the pipe, which looks the same.
func (t teeSource) peek(fd int, buf []byte) (n int, err error) {
	for range 2 {
		n, err = uninterrupted(func() (int64, error) {
			return unix.Tee(fd, t.copy.writeFD, len(buf), unix.SPLICE_F_NONBLOCK)
		})
		if n > 0 || err != nil {
			break
		}
	}
	if err != nil {
		return 0, err
	}
	return n, t.read(buf[:n])
}

func (t teeSource) take(fd int, buf []byte) error {
	for len(buf) > 0 {
		n, err := uninterrupted(func() (int64, error) {
			n, err := unix.Splice(fd, nil, t.copy.writeFD, nil, len(buf), unix.SPLICE_F_NONBLOCK)
			return int64(n), err // which is an int on 32-bit machines
		})
		if err == unix.EAGAIN || err == nil && n == 0 {
			return nil
		}
		if err == nil {
			err = t.read(buf[:n])
		}
		if err != nil {
			return err
		}
		buf = buf[n:]
	}
	return nil
}

// read reads what is in that pipe, which is as much as buf holds.
func (t teeSource) read(buf []byte) error {
	for len(buf) > 0 {
		n, err := uninterrupted(func() (int, error) { return unix.Read(t.copy.readFD, buf) })
		if err != nil {
			return err
		}
		buf = buf[n:]
	}
	return nil
}

// resize makes the pipe hold so many pages, a power of two, and says whether it
// does: so that it is full with them, and can be written to only when some of it
// is read. If that is refused, it is looked at from time to time.
func resize(p *ownPipe, pages int) bool {
	now, err := unix.FcntlInt(uintptr(p.writeFD), unix.F_GETPIPE_SZ, 0)
	if err == nil && now != pages*page {
		now, err = unix.FcntlInt(uintptr(p.writeFD), unix.F_SETPIPE_SZ, pages*page)
	}
	return err == nil && now == pages*page
}
