package outages

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"
)

// File is a file that outages are appended to, by several programs at a time if
// need be. It is never written in place: whoever reads it, even after a crash
// or a full disk, finds either what it held before or that and the new outages.
type File struct {
	path string
}

// lockPoll is how often a lock that is held is tried again (a choice).
const lockPoll = 10 * time.Millisecond

// lockWait is how long a lock may be held by others (a choice: writing a file
// takes milliseconds, and seconds on a disk that is very busy). Tests wait less.
var lockWait = 30 * time.Second

// fileMode is a new file's, before the umask: it holds no secrets.
const fileMode = 0o666

// OpenFile is the file at path, which need not exist yet. The error says why
// nothing could be appended to it: what it holds is no outages file (an
// *Error), or its folder takes no new files.
func OpenFile(path string) (*File, error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target // the link stays, and what it leads to is replaced
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", path)
	}
	f := &File{path}
	unlock, err := f.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	if _, err := f.read(); err != nil {
		return nil, err
	}
	temp, err := f.create()
	if err != nil {
		return nil, err
	}
	return f, errors.Join(temp.Close(), os.Remove(temp.Name()))
}

// Append adds outages, and says how many were new: one of the same target and
// host, or of the same source, with the same times is there already and stays
// as it is. A name that is taken gets a number. With an error nothing has been
// added; the file is as it was.
func (f *File) Append(list []Outage) (added int, err error) {
	unlock, err := f.lock()
	if err != nil {
		return 0, err
	}
	defer unlock()
	old, err := f.read()
	if err != nil {
		return 0, err
	}
	all := Merge(old, list)
	if added = len(all) - len(old); added == 0 {
		return 0, nil
	}
	text, err := Format(all)
	if err != nil {
		return 0, fmt.Errorf("%s cannot take the outage: %w", f.path, err)
	}
	if err := f.replace(text); err != nil {
		return 0, err
	}
	return added, nil
}

// Merge is the outages of old and those of list that are not among them.
func Merge(old, list []Outage) []Outage {
	all := slices.Clone(old)
	for _, o := range list {
		if !slices.ContainsFunc(all, func(there Outage) bool { return same(&there, &o) }) {
			o.Name = freeName(all, o.Name)
			all = append(all, o)
		}
	}
	return all
}

func same(a, b *Outage) bool {
	if a.Down.IsZero() {
		return b.Down.IsZero() && a.Name == b.Name && a.Duration == b.Duration && a.Source == b.Source
	}
	return a.series() == b.series() && a.Down.Equal(b.Down) && a.Up.Equal(b.Up)
}

func freeName(list []Outage, name string) string {
	taken := func(name string) bool {
		return name != "" && slices.ContainsFunc(list, func(o Outage) bool { return o.Name == name })
	}
	free := name
	for n := 2; taken(free); n++ {
		free = fmt.Sprintf("%s (%d)", name, n)
	}
	return free
}

// read is what the file holds: nothing, if it is not there or empty.
func (f *File) read() ([]Outage, error) {
	if info, err := os.Stat(f.path); errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return nil, nil
	}
	return Read(f.path)
}

// lock keeps other writers away. The lock's own file is never removed, or one writer
// could hold the old file while another makes a new one.
func (f *File) lock() (unlock func() error, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	lock := flock.New(f.path+".lock", flock.SetPermissions(fileMode))
	if _, err := lock.TryLockContext(ctx, lockPoll); err != nil {
		lock.Close()
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("another program has held %s.lock for %v", f.path, lockWait)
		}
		return nil, err
	}
	return lock.Close, nil
}

// create makes the file that is renamed later. One that a crash has left is
// used again: only who holds the lock gets here.
func (f *File) create() (*os.File, error) {
	dir, base := filepath.Split(f.path)
	return os.OpenFile(dir+"."+base+".tmp", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, fileMode)
}

// replace gives the file another content, which is on the disk once it returns.
func (f *File) replace(text []byte) error {
	temp, err := f.create()
	if err != nil {
		return err
	}
	_, err = temp.Write(text)
	if info, missing := os.Stat(f.path); missing == nil {
		err = errors.Join(err, temp.Chmod(info.Mode().Perm()))
	}
	err = errors.Join(err, temp.Sync(), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), f.path)
	}
	if err != nil {
		os.Remove(temp.Name())
		return err
	}
	syncDir(filepath.Dir(f.path))
	return nil
}

// syncDir puts the new name on the disk. Where a folder cannot be synced, as on
// Windows, the system does it in its own time: the old file or the new is there.
func syncDir(path string) {
	if dir, err := os.Open(path); err == nil {
		_ = dir.Sync()
		dir.Close()
	}
}
