package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"os"
	"time"
)

// file is one of an archive or a package.
type file struct {
	path    string // from the archive's top, with slashes
	content []byte
	mode    fs.FileMode
}

// Where an archive has what goes with the program.
const (
	manPage     = "man/man1/outlast.1"
	bashWords   = "completions/outlast.bash"
	zshWords    = "completions/_outlast"
	fishWords   = "completions/outlast.fish"
	licenceFile = "LICENSE"
)

// archives packs the tool for each target: a tar for systems that keep a file's
// mode in one, a zip for Windows.
func (r *release) archives() error {
	for _, t := range r.targets {
		program, err := os.ReadFile(r.programs[t])
		if err != nil {
			return err
		}
		files := append([]file{{t.program(), program, 0o755}}, r.extra...)
		top := r.Package + "_" + r.version + "_" + t.os + "_" + t.arch
		pack, ending := tarOf, ".tar.gz"
		if t.os == "windows" {
			pack, ending = zipOf, ".zip"
		}
		for i := range files {
			files[i].path = top + "/" + files[i].path
		}
		packed, err := pack(files, r.when)
		if err == nil && ending == ".tar.gz" {
			packed, err = gzipped(packed)
		}
		if err == nil {
			err = os.WriteFile(r.path("%s%s", top, ending), packed, 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// tarOf has the files, and the folders whose mode says that they are.
func tarOf(files []file, when time.Time) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, f := range files {
		header := &tar.Header{Name: f.path, Mode: int64(f.mode.Perm()), Size: int64(len(f.content)), ModTime: when, Format: tar.FormatUSTAR, Typeflag: tar.TypeReg}
		if f.mode.IsDir() {
			header.Typeflag = tar.TypeDir
		}
		if f.mode&fs.ModeSticky != 0 {
			header.Mode |= 0o1000
		}
		if err := w.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return out.Bytes(), err
}

func zipOf(files []file, when time.Time) ([]byte, error) {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, f := range files {
		header := &zip.FileHeader{Name: f.path, Method: zip.Deflate, Modified: when}
		header.SetMode(f.mode)
		entry, err := w.CreateHeader(header)
		if err != nil {
			return nil, err
		}
		if _, err := entry.Write(f.content); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return out.Bytes(), err
}

// gzipped has no name and no time.
func gzipped(content []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := io.Copy(w, bytes.NewReader(content)); err != nil {
		return nil, err
	}
	err = w.Close()
	return out.Bytes(), err
}
