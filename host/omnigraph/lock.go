package omnigraph

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/gofrs/flock"
)

// Permissions before the umask, as Python gives them: the lock is shared with
// whoever may write the store.
const (
	lockFileMode = 0o666
	lockDirMode  = 0o777
)

// Lock waits for the exclusive lock on the file at path, which it makes with
// its directories if they are missing, and takes it. The file stays after
// release, with what it holds. A waiter does not poll, so that others who wait
// in the kernel cannot starve it. The lock is not re-entrant.
//
// The error of a cancelled ctx is its cause. The wait itself then ends in the
// background, when the lock is next free.
func Lock(ctx context.Context, path string) (release func() error, err error) {
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
	lock := flock.New(path, flock.SetPermissions(lockFileMode))
	if ok, err := lock.TryLock(); err != nil {
		place.leave()
		return nil, fmt.Errorf("outlast: locking %s: %w", path, err)
	} else if ok {
		return releaser(lock, place), nil
	}

	// The system call can be neither cancelled nor timed. If ctx ends first, it
	// is left to end by itself, and its lock is given up at once.
	got := make(chan error, 1)
	go func() { got <- block(lock) }()
	select {
	case err := <-got:
		if err != nil {
			place.leave()
			return nil, fmt.Errorf("outlast: locking %s: %w", path, err)
		}
		return releaser(lock, place), nil
	case <-ctx.Done():
		go func() {
			if <-got == nil {
				_ = lock.Unlock()
			}
			place.leave()
		}()
		return nil, waiting(path, context.Cause(ctx))
	}
}

func waiting(path string, err error) error {
	return fmt.Errorf("outlast: waiting for the lock %s: %w", path, err)
}

func releaser(lock *flock.Flock, place *place) func() error {
	return func() error {
		err := lock.Unlock()
		place.leave()
		if err != nil {
			return fmt.Errorf("outlast: unlocking %s: %w", lock.Path(), err)
		}
		return nil
	}
}

func block(lock *flock.Flock) error {
	for {
		if err := lock.Lock(); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
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
