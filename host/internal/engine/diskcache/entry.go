package diskcache

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// markerName is the file whose presence makes an entry complete.
const markerName = "complete"

// marker describes the one file of code in an entry.
type marker struct {
	File  string `json:"file"` // relative to the entry
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

// Bounds on what is read of an entry: the marker is some 150 bytes, a plugin's
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

// onlyCode says whether an entry has just its marker and the file of code:
// wazero opens what has the name that it expects, whatever the marker says.
func onlyCode(entry, file string) error {
	return filepath.WalkDir(entry, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(entry, path)
		if err == nil && (name != markerName && name != file || !e.Type().IsRegular()) {
			err = fmt.Errorf("it has %q in it", name)
		}
		return err
	})
}

// check compares an entry's code with its marker. wazero's own checksum covers
// the instructions only, not the table that says where functions begin. Both
// find damage; against forgery there is the directory's mode.
func check(entry string, text []byte) error {
	var want marker
	if err := json.Unmarshal(text, &want); err != nil {
		return fmt.Errorf("the cache entry is damaged: its marker: %w", err)
	}
	if !filepath.IsLocal(want.File) {
		return fmt.Errorf("the cache entry is damaged: its marker names %q as the code", want.File)
	}
	if err := onlyCode(entry, want.File); err != nil {
		return fmt.Errorf("the cache entry is damaged: %w", err)
	}
	got, err := describe(entry, want.File, want.Size)
	if err != nil {
		return fmt.Errorf("the cache entry is damaged: %w", err)
	}
	if got != want {
		return fmt.Errorf("the cache entry is damaged: it has %d bytes with the checksum %08x, %d with %08x were written", got.Size, got.CRC32, want.Size, want.CRC32)
	}
	return nil
}

// describe reads a file of code; not one of another size than it should have,
// which may be far more than there is memory for.
func describe(entry, file string, want int64) (marker, error) {
	f, size, err := openFile(filepath.Join(entry, file), maxCode)
	if err != nil {
		return marker{}, err
	}
	defer f.Close()
	if want >= 0 && size != want {
		return marker{}, fmt.Errorf("it has %d bytes of code, %d were written", size, want)
	}
	h := crc32.New(crc32.MakeTable(crc32.Castagnoli)) // processors have it: a tenth of SHA-256's time
	size, err = io.Copy(h, f)
	if err != nil {
		return marker{}, err
	}
	return marker{File: file, Size: size, CRC32: h.Sum32()}, nil
}

// seal writes the marker of an entry, in which there must be just one file.
func seal(entry string) error {
	var files []string
	err := filepath.WalkDir(entry, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		file, err := filepath.Rel(entry, path)
		files = append(files, file)
		return err
	})
	if err != nil {
		return err
	}
	if len(files) != 1 {
		return fmt.Errorf("compiling left %d files in the cache entry, 1 was expected", len(files))
	}
	m, err := describe(entry, files[0], -1)
	if err != nil {
		return err
	}
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(entry, markerName), text, 0o600)
}
