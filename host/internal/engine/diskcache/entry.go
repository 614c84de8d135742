package diskcache

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// markerName is the file whose presence makes an entry complete.
const markerName = "complete"

// marker describes the files of code in an entry, by their names relative to it.
type marker map[string]code

// code describes a file of code.
type code struct {
	Size  int64  `json:"size"` // in bytes
	CRC32 uint32 `json:"crc32"`
}

// ErrNone says that there is no entry.
var ErrNone = errors.New("the cache has no code for this plugin yet")

// Find is the directory of a complete entry whose code is as it was written,
// for wazero.NewCompilationCacheWithDir. It gives ErrNone if there is none;
// any other error is that of a damaged entry, which should be dropped.
func (d *Dir) Find(key string) (string, error) {
	entry := filepath.Join(d.path, key)
	path := filepath.Join(entry, markerName)
	text, err := readMarker(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", ErrNone
	}
	if err != nil {
		return "", fmt.Errorf("reading the cache: %w", err)
	}
	if err := check(entry, text); err != nil {
		return "", err
	}
	now := time.Now()
	os.Chtimes(path, now, now) // for the choice of what to evict; a read-only cache keeps its times
	return entry, nil
}

// Bounds on what is read of an entry: the marker is some 300 bytes, a plugin's
// code some 10 MB; both are choices with room above.
const (
	maxMarker = 4 << 10
	maxCode   = 256 << 20
)

// readMarker reads an entry's marker.
func readMarker(path string) ([]byte, error) {
	f, _, err := openFile(path, maxMarker)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxMarker))
}

// openFile opens a regular file of at most max bytes, and nothing that could
// block whoever opens or reads it, as a named pipe or a device could.
func openFile(path string, max int64) (f *os.File, size int64, err error) {
	f, err = os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = fmt.Errorf("%s is no regular file", path)
	case info.Size() > max:
		err = fmt.Errorf("%s has %d bytes, and may have %d", path, info.Size(), max)
	default:
		return f, info.Size(), nil
	}
	f.Close()
	return nil, 0, err
}

// files are the names of an entry's files, relative to it.
func files(entry string) (names []string, err error) {
	err = filepath.WalkDir(entry, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(entry, path)
		if err == nil && !e.Type().IsRegular() {
			err = fmt.Errorf("%q in it is no regular file", name)
		}
		names = append(names, name)
		return err
	})
	return names, err
}

// check compares an entry's code with its marker. Nothing more may be there:
// wazero opens what has the name that it expects, whatever the marker says.
// wazero's own checksum covers the instructions only, not the table that says
// where functions begin. Both find damage; against forgery there is the
// directory's mode.
func check(entry string, text []byte) error {
	var want marker
	if err := json.Unmarshal(text, &want); err != nil {
		return fmt.Errorf("the cache entry is damaged: its marker: %w", err)
	}
	got, err := describe(entry, want)
	if err != nil {
		return fmt.Errorf("the cache entry is damaged: %w", err)
	}
	if !maps.Equal(got, want) {
		return fmt.Errorf("the cache entry is damaged: it has %v, and %v was written", got, want)
	}
	return nil
}

// describe reads all code of an entry. It wants the sizes that it is given, if any.
func describe(entry string, want marker) (marker, error) {
	names, err := files(entry)
	if err != nil {
		return nil, err
	}
	got := marker{}
	for _, name := range names {
		if name == markerName {
			continue
		}
		size := int64(-1)
		if want != nil {
			size = want[name].Size
		}
		if got[name], err = read(entry, name, size); err != nil {
			return nil, err
		}
	}
	return got, nil
}

// read reads a file of code; not one of another size than it should have, which
// may be far more than there is memory for.
func read(entry, file string, want int64) (code, error) {
	f, size, err := openFile(filepath.Join(entry, file), maxCode)
	if err != nil {
		return code{}, err
	}
	defer f.Close()
	if want >= 0 && size != want {
		return code{}, fmt.Errorf("%s has %d bytes, %d were written", file, size, want)
	}
	h := crc32.New(crc32.MakeTable(crc32.Castagnoli)) // processors have it: a tenth of SHA-256's time
	size, err = io.Copy(h, f)
	if err != nil {
		return code{}, err
	}
	return code{Size: size, CRC32: h.Sum32()}, nil
}

// seal writes the marker of an entry.
func seal(entry string) error {
	m, err := describe(entry, nil)
	if err != nil {
		return err
	}
	if len(m) == 0 {
		return errors.New("compiling left nothing in the cache entry")
	}
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(entry, markerName), text, 0o600)
}
