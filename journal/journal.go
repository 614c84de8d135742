// Package journal remembers which writes were under way, so that whoever runs
// one again after a crash does not apply it twice.
//
// Before an attempt, what is about to be done is on disk; after the call, how
// it ended. A run whose process was killed in between is in doubt, and Begin
// refuses another one with the same key until a person has looked and said so
// with Settle. docs/journal.md has the files' format, which outlast.journal in
// Python reads and writes too.
//
// A journal is a directory of the user's with one file for each key. A run
// holds its file's lock for as long as it lasts, and so does a process that
// inherits Run.File. The time of day decides nothing but which settled
// records leave a full journal.
package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Limits of a journal; all are choices.
const (
	// DefaultKeep is for how long a settled record answers at least.
	DefaultKeep = 30 * 24 * time.Hour
	// DefaultMaxRecords is how many keys a journal has at most.
	DefaultMaxRecords = 10_000
	// MaxOutput is how much of each output stream a record keeps, in bytes.
	MaxOutput = 64 << 10
	// MaxKey is the length of a given key in bytes.
	MaxKey = 256

	maxFile = 4 << 20 // 10,000 attempts, which a call cannot have more of, take 2 MB
	maxWhat = 4 << 10 // of the command line, in bytes
)

// Options change what a journal does. The zero value is the default.
type Options struct {
	Keep       time.Duration // 0: DefaultKeep
	MaxRecords int           // 0: DefaultMaxRecords
	Secrets    []string      // are replaced in all that is written

	// NoSync leaves out fsync: a crash of the process loses nothing, one of the
	// machine may. For measuring what fsync costs.
	NoSync bool
}

// Journal is a directory of records.
type Journal struct {
	dir     string
	options Options
}

// Open opens the journal at dir, and makes it if there is nothing. It must be a
// real directory of this user's that no other user can write; the error says
// what is wrong.
func Open(dir string, o Options) (*Journal, error) {
	if o.Keep == 0 {
		o.Keep = DefaultKeep
	}
	if o.MaxRecords == 0 {
		o.MaxRecords = DefaultMaxRecords
	}
	if dir == "" {
		return nil, errors.New("outlast: the journal: expected a directory's path, not an empty one")
	}
	dir = filepath.Clean(dir) // without a trailing slash, which would follow a link
	if err := makeDir(dir, &o); err != nil {
		return nil, fmt.Errorf("outlast: the journal %s: %w", dir, plain(err))
	}
	return &Journal{dir, o}, nil
}

// makeDir makes the directory if it is missing, and checks it.
func makeDir(dir string, o *Options) error {
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		if err := syncDir(filepath.Dir(dir), o); err != nil {
			return err
		}
		info, err = os.Lstat(dir)
	}
	switch {
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		return errors.New("it is a symbolic link, which somebody may turn elsewhere; give the directory itself")
	case !info.IsDir():
		return errors.New("it is not a directory")
	}
	return checkOwn(info)
}

// Dir is the journal's directory.
func (j *Journal) Dir() string { return j.dir }

func (j *Journal) path(id string) string { return filepath.Join(j.dir, id+suffix) }

const suffix = ".jsonl"

// ids are the records that there are, in the order of their names.
func (j *Journal) ids() ([]string, error) {
	dir, err := os.Open(j.dir)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, name := range names {
		if id, ok := strings.CutSuffix(name, suffix); ok && isID(id) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids, nil
}

// syncDir makes the names in a directory last.
func syncDir(path string, o *Options) error {
	if o.NoSync || !dirsSync {
		return nil
	}
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// plain is an error without the path that its message names anyway.
func plain(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
