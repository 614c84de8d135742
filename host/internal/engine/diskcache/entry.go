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
	text, err := os.ReadFile(path)
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
	got, err := describe(entry, want.File)
	if err != nil {
		return fmt.Errorf("the cache entry is damaged: %w", err)
	}
	if got != want {
		return fmt.Errorf("the cache entry is damaged: it has %d bytes with the checksum %08x, %d with %08x were written", got.Size, got.CRC32, want.Size, want.CRC32)
	}
	return nil
}

// describe reads a file of code.
func describe(entry, file string) (marker, error) {
	f, err := os.Open(filepath.Join(entry, file))
	if err != nil {
		return marker{}, err
	}
	defer f.Close()
	h := crc32.New(crc32.MakeTable(crc32.Castagnoli)) // processors have it: a tenth of SHA-256's time
	size, err := io.Copy(h, f)
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
	m, err := describe(entry, files[0])
	if err != nil {
		return err
	}
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(entry, markerName), text, 0o600)
}
