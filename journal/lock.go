package journal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// lockPoll is how often a waiter looks whether a lock is free (a choice: short
// beside a write, long beside a look).
const lockPoll = 20 * time.Millisecond

// errHeld says that another run has the lock.
var errHeld = errors.New("another run has it")

// lockRecord opens a record and takes its lock. With wait it waits for another
// run until ctx ends, and calls waiting once before; without it errHeld is the
// answer. make says whether the file may be made.
//
// If its last holder has removed the file meanwhile, that is noticed: the file that
// is locked is always the one that has the name.
func lockRecord(ctx context.Context, path string, make, wait bool, waiting func()) (*os.File, error) {
	for {
		file, err := openFile(path, make)
		if err != nil {
			return nil, err
		}
		if err = take(ctx, file, wait, &waiting); err == nil {
			if isStill(file, path) {
				if err = selfTest(path); err == nil {
					return file, nil
				}
				unlock(file)
			} else {
				unlock(file)
			}
		}
		file.Close()
		if err != nil {
			return nil, err
		}
	}
}

func take(ctx context.Context, file *os.File, wait bool, waiting *func()) error {
	for {
		ok, err := tryLock(file)
		switch {
		case err != nil:
			return fmt.Errorf("its file system gives no locks: %w", err)
		case ok:
			return nil
		case !wait:
			return errHeld
		}
		if *waiting != nil {
			(*waiting)()
			*waiting = nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(lockPoll):
		}
	}
}

// isStill says whether the path still names the file.
func isStill(file *os.File, path string) bool {
	held, err := file.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(path)
	return err == nil && os.SameFile(held, named)
}

// selfTest checks that a second lock is refused while the first is held: some file
// systems grant locks to everybody.
func selfTest(path string) error {
	second, err := openFile(path, false)
	if err != nil {
		return err
	}
	defer second.Close()
	ok, err := tryLock(second)
	if err != nil {
		return fmt.Errorf("its file system gives no locks: %w", err)
	}
	if ok {
		return errors.New("its file system grants one lock to two at a time: put the journal on a local disk, or a volume that locks")
	}
	return nil
}

// isMissing says that there is no such record.
func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
