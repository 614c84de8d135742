package omnigraph

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Permissions before the umask, as Python gives them: the lock is shared with
// whoever may write the store.
const (
	lockFileMode = 0o666
	lockDirMode  = 0o777
)

// tellAfter is how long the wait for another process lasts until the holder is
// named (a choice: most writes are over by then).
const tellAfter = time.Second

// StoreLock is a store's lock, held by us or by a process that we descend from.
type StoreLock struct {
	path    string
	file    *os.File // nil: a process above us holds it
	place   *place
	release sync.Once
}

// Lock waits for the exclusive lock on the file at path, which it makes with
// its directories if they are missing, and takes it. The file stays after
// Release, with what it holds. A waiter does not poll, so that others who wait
// in the kernel cannot starve it. The lock is not re-entrant.
//
// A process that we descend from and that holds the lock waits for us, as
// witan-core does while it runs omnigraph; so does a lock that we have inherited,
// as from a shell's "exec 9>g.lock; flock 9". Then Lock leaves it as it is and
// comes back at once. Only Linux lets this be seen; elsewhere Lock waits.
//
// tell, if it is not nil, is called at most once, before Lock comes back: with
// the holder above us, or with whoever holds the lock when the wait for another
// process has lasted a second. Calls of one process wait for each other first.
//
// The error of a cancelled ctx is its cause. The wait itself then ends in the
// background, when the lock is next free.
func Lock(ctx context.Context, path string, tell func(Holder)) (*StoreLock, error) {
	if path == "" {
		return nil, errors.New("outlast: locking a store: its lock has no path")
	}
	if err := os.MkdirAll(parent(path), lockDirMode); err != nil {
		return nil, fmt.Errorf("outlast: making the directory of the lock %s: %w", path, err)
	}
	if ctx.Err() != nil {
		return nil, waiting(path, context.Cause(ctx))
	}
	place, err := queues.enter(ctx, path)
	if err != nil {
		return nil, waiting(path, err)
	}
	l := &StoreLock{path: path, place: place}
	if l.file, err = openLock(path); err != nil {
		place.leave()
		return nil, failed(path, err)
	}
	if tell == nil {
		tell = func(Holder) {}
	}
	return l.take(ctx, tell)
}

func (l *StoreLock) take(ctx context.Context, tell func(Holder)) (*StoreLock, error) {
	if ok, err := tryFlock(l.file); err != nil || ok {
		return l.taken(err)
	}
	if h, ok := holderAbove(l.file); ok {
		l.file.Close()
		l.file = nil
		tell(h)
		return l, nil
	}
	// The system call can be neither cancelled nor timed. If ctx ends first, it
	// is left to end by itself, and its lock is given up at once.
	got := make(chan error, 1)
	go func() { got <- flock(l.file) }()
	long := time.NewTimer(tellAfter)
	defer long.Stop()
	for {
		select {
		case err := <-got:
			return l.taken(err)
		case <-long.C:
			tell(holderOf(l.file))
		case <-ctx.Done():
			go func() {
				<-got
				l.Release()
			}()
			return nil, waiting(l.path, context.Cause(ctx))
		}
	}
}

// taken is the lock after the system call that was to take it.
func (l *StoreLock) taken(err error) (*StoreLock, error) {
	if err != nil {
		l.Release()
		return nil, failed(l.path, err)
	}
	return l, nil
}

// File is the open file whose lock it is, nil if a process above us holds it. A
// child that inherits it keeps the store locked if we are killed while it
// writes. Release gives the lock up whoever else has the file open, so that
// what a child left behind cannot keep it.
func (l *StoreLock) File() *os.File { return l.file }

// Release gives the lock up; only the first time counts.
func (l *StoreLock) Release() (err error) {
	l.release.Do(func() {
		if l.file != nil {
			err = errors.Join(unflock(l.file), l.file.Close())
		}
		l.place.leave()
	})
	if err != nil {
		return fmt.Errorf("outlast: unlocking %s: %w", l.path, err)
	}
	return nil
}

func waiting(path string, err error) error {
	return fmt.Errorf("outlast: waiting for the lock %s: %w", path, err)
}

func failed(path string, err error) error {
	return fmt.Errorf("outlast: locking %s: %w", path, err)
}

// parent is the path without its last component; unlike filepath.Dir's, a ".."
// in it stays, since what is before it may be a symbolic link.
func parent(path string) string {
	i := strings.LastIndexByte(filepath.ToSlash(path), '/')
	switch i {
	case -1:
		return "."
	case 0:
		return "/"
	}
	return path[:i]
}
