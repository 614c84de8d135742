package omnigraph

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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

// StoreLock is a store's lock, held by this process or by its ancestors.
type StoreLock struct {
	files   []*fileLock // in the order in which they were taken
	release sync.Once
}

// fileLock is one file's lock.
type fileLock struct {
	path string
	info os.FileInfo // which file it is
	file *os.File    // nil: an ancestor holds it
}

// Lock waits for the exclusive locks on the files at paths, one after the other,
// as LockPaths has them, and takes them. It makes files that are missing, with
// their directories; they stay after Release, with what they hold. The path that
// witan-core makes of a file: URI is left out where its directory is not there. Of
// paths that name the same file the first counts. A waiter does not poll, so that others
// who wait in the kernel cannot starve it. A lock is not re-entrant.
//
// A symbolic link that leads to a file is followed, as witan-core follows it; one
// that leads nowhere is refused, and so is whatever is no regular file.
//
// An ancestor that holds a lock is waiting for this process, as witan-core does
// while it runs omnigraph; so is one whose lock this process has inherited, as
// from a shell's "exec 9>g.lock; flock 9". Then Lock leaves the lock as it is and
// goes on at once. Only Linux lets this be seen; elsewhere Lock waits.
//
// tell, if it is not nil, is called at most once for each path, before Lock comes
// back: with the ancestor that holds it, or with whoever holds the lock when the wait
// for it has lasted a second. Lock is for a process that makes one call at a time:
// each waiter takes a thread.
//
// The error of a cancelled ctx is its cause. The wait itself then ends in the
// background, when the lock is next free.
func Lock(ctx context.Context, paths []string, tell func(Holder)) (*StoreLock, error) {
	if len(paths) == 0 || slices.Contains(paths, "") {
		return nil, errors.New("outlast: locking a store: its lock has no path")
	}
	if tell == nil {
		tell = func(Holder) {}
	}
	l := &StoreLock{}
	for _, path := range paths {
		if l.has(path) || isNobodysTree(path) {
			continue
		}
		one, err := lockFile(ctx, path, tell)
		if err != nil {
			l.Release()
			return nil, err
		}
		l.files = append(l.files, one)
	}
	return l, nil
}

// has says whether this lock holds the file at path already: to wait for it would
// be to wait for itself.
func (l *StoreLock) has(path string) bool {
	info, err := os.Stat(path)
	return err == nil && slices.ContainsFunc(l.files, func(one *fileLock) bool { return os.SameFile(one.info, info) })
}

// lockFile takes one file's lock.
func lockFile(ctx context.Context, path string, tell func(Holder)) (*fileLock, error) {
	if err := os.MkdirAll(parent(path), lockDirMode); err != nil {
		return nil, fmt.Errorf("outlast: making the directory of the lock %s: %w", path, err)
	}
	if ctx.Err() != nil {
		return nil, waiting(path, context.Cause(ctx))
	}
	file, info, err := openRegular(path)
	if err != nil {
		return nil, failed(path, err)
	}
	l := &fileLock{path, info, file}
	return l.take(ctx, tell)
}

func (l *fileLock) take(ctx context.Context, tell func(Holder)) (*fileLock, error) {
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
				l.release()
			}()
			return nil, waiting(l.path, context.Cause(ctx))
		}
	}
}

// taken is the lock after the system call that was to take it.
func (l *fileLock) taken(err error) (*fileLock, error) {
	if err != nil {
		l.release()
		return nil, failed(l.path, err)
	}
	return l, nil
}

// release gives the lock up.
func (l *fileLock) release() (err error) {
	if l.file != nil {
		err = errors.Join(unflock(l.file), l.file.Close())
	}
	if err != nil {
		return fmt.Errorf("outlast: unlocking %s: %w", l.path, err)
	}
	return nil
}

// Files are the open files whose locks this process holds; those of an ancestor
// are not among them. A child that inherits the files keeps the store locked if
// this process is killed while the child writes. Release gives the locks up even
// if others have the files open, so that what a child left behind cannot keep them.
func (l *StoreLock) Files() []*os.File {
	var files []*os.File
	for _, one := range l.files {
		if one.file != nil {
			files = append(files, one.file)
		}
	}
	return files
}

// Release gives the lock up; only the first time counts.
func (l *StoreLock) Release() (err error) {
	l.release.Do(func() {
		for _, one := range slices.Backward(l.files) {
			err = errors.Join(err, one.release())
		}
	})
	return err
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
