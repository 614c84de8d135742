package diskcache

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// Reasons not to fill the cache. Neither is a fault.
var (
	ErrBusy   = errors.New("the cache is being written by another process, or another part of this one")
	ErrFilled = errors.New("the cache has code for this plugin already")
)

const (
	lockName = "lock"
	tempMark = ".tmp-" // stands between an entry's key and what makes its temporary name unique
	// keepEntries bounds how many entries stay (a choice: the plugins of two
	// versions of two programs; each has some 10 MB).
	keepEntries = 4
)

// Fill has the code compiled into a new entry, unless there is one that is
// sound. compile gets the directory to compile into. It holds the cache's lock,
// and gives ErrBusy at once if someone else does.
func (d *Dir) Fill(ctx context.Context, key string, compile func(ctx context.Context, dir string) error) error {
	return d.locked(func() error {
		if _, err := d.Find(key); err == nil {
			return ErrFilled
		}
		d.sweep()
		temp, err := os.MkdirTemp(d.path, key+tempMark)
		if err != nil {
			return fmt.Errorf("writing the cache: %w", err)
		}
		defer os.RemoveAll(temp) // what is left of it if anything below fails
		if err := compile(ctx, temp); err != nil {
			return err
		}
		if err := d.publish(key, temp); err != nil {
			return fmt.Errorf("writing the cache: %w", err)
		}
		d.evict()
		return nil
	})
}

// Drop removes a damaged entry. If the cache is being written it does nothing:
// whoever writes replaces the entry if it is this one.
func (d *Dir) Drop(key string) error {
	err := d.locked(func() error {
		// Renamed first, so that no one finds half of it.
		temp := filepath.Join(d.path, fmt.Sprintf("%s%s%d", key, tempMark, time.Now().UnixNano()))
		if err := os.Rename(filepath.Join(d.path, key), temp); err != nil {
			return err
		}
		return os.RemoveAll(temp)
	})
	if errors.Is(err, ErrBusy) {
		return nil
	}
	return err
}

// locked runs work while it holds the cache's lock.
func (d *Dir) locked(work func() error) error {
	path := filepath.Join(d.path, lockName)
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("locking the cache: %s is no regular file", path) // opening a named pipe would block
	}
	lock := flock.New(path)
	ok, err := lock.TryLock()
	if err != nil {
		return fmt.Errorf("locking the cache: %w", err)
	}
	if !ok {
		return ErrBusy
	}
	defer lock.Close()
	return work()
}

// publish makes a compiled entry complete and gives it its name.
func (d *Dir) publish(key, temp string) error {
	if err := seal(temp); err != nil {
		return err
	}
	entry := filepath.Join(d.path, key)
	if err := os.RemoveAll(entry); err != nil {
		return err
	}
	return os.Rename(temp, entry)
}

// sweep removes what writers left that were killed. The lock is held, so none
// is at work.
func (d *Dir) sweep() {
	for _, name := range d.names() {
		if strings.Contains(name, tempMark) {
			os.RemoveAll(filepath.Join(d.path, name))
		}
	}
}

// evict removes the entries that have not been used for longest.
func (d *Dir) evict() {
	type entry struct {
		name string
		used time.Time
	}
	var entries []entry
	for _, name := range d.names() {
		if info, err := os.Stat(filepath.Join(d.path, name, markerName)); err == nil {
			entries = append(entries, entry{name, info.ModTime()})
		}
	}
	slices.SortFunc(entries, func(a, b entry) int { return b.used.Compare(a.used) })
	for _, e := range entries[min(keepEntries, len(entries)):] {
		os.RemoveAll(filepath.Join(d.path, e.name))
	}
}

func (d *Dir) names() []string {
	list, err := os.ReadDir(d.path)
	if err != nil {
		return nil // the next writer tries again
	}
	names := make([]string, len(list))
	for i, e := range list {
		names[i] = e.Name()
	}
	return names
}
