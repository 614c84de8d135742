package followed

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"outlast/abi"
	"outlast/abi/fields"
)

// maxFileBytes bounds a file of the folder (a choice: an envelope with every byte
// escaped in two, and what stands around it).
const maxFileBytes = 1 << 20

// File is a policy in the folder.
type File struct {
	Text      string // of the envelope, byte for byte as it was published
	Digest    string // of Text
	Source    string // where it came from
	Pulled    time.Time
	Signature string // minisign's, of Text; "" where Key is
	Key       string // the public key that it was verified with; "": it was asked for by its digest

	pulled string
}

// Fields implements fields.Message.
func (f *File) Fields(l *fields.List) {
	version := int64(formVersion)
	l.Int("version", &version, formVersion, formVersion).Required()
	l.String("envelope", &f.Text, MaxEnvelopeBytes).Required()
	l.String("digest", &f.Digest, 0).Required()
	l.String("source", &f.Source, 0)
	l.String("pulled", &f.pulled, 64)
	l.String("signature", &f.Signature, 0)
	l.String("key", &f.Key, 0)
}

// Check implements fields.Checker.
func (f *File) Check(c *fields.Checked) {
	f.Pulled = readTime(c, "pulled", f.pulled)
	if is := Digest([]byte(f.Text)); c.Has("envelope") && f.Digest != is {
		c.Fault("digest", "the envelope is damaged: its digest is "+is)
	}
}

// Release is a policy in the folder with its envelope.
type Release struct {
	File
	Envelope
}

// Path is where a policy of a name is in a folder.
func Path(dir, name string) string { return filepath.Join(dir, name+suffix) }

const suffix = ".json"

// Names are the policies in a folder. The error is that of reading the folder.
func Names(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if name, is := strings.CutSuffix(e.Name(), suffix); is && name != "" && name[0] != '.' {
			names = append(names, name)
		}
	}
	return names, err
}

// Read reads a policy from a folder, which must be this user's or root's and closed
// to others' writing, as the file must be. An error that is fs.ErrNotExist says that
// there is none; any other has the faults of the file.
func Read(dir, name string) (*Release, error) {
	text, err := readOwn(dir, name)
	if err != nil {
		return nil, err
	}
	r, err := parse(text)
	if err == nil && r.Name != name {
		err = fmt.Errorf("has the policy %s", r.Name)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Path(dir, name), err)
	}
	return r, nil
}

func parse(text string) (*Release, error) {
	r := &Release{}
	if err := read(text, maxFileBytes, fields.Open, &r.File, "the file"); err != nil {
		return nil, err
	}
	e, err := parseEnvelope(r.Text, fields.Open)
	if err != nil {
		return nil, fmt.Errorf("envelope: %w", err)
	}
	r.Envelope = *e
	return r, nil
}

// Document is the policy document in a text that is an envelope or a file of the
// folder, whoever it belongs to; any other text is taken for a document itself.
func Document(text string) string {
	if r, err := parse(text); err == nil {
		return r.Document
	}
	if e, err := parseEnvelope(text, fields.Open); err == nil {
		return e.Document
	}
	return text
}

// Stamp tells one file from the next: a policy is replaced by another file.
type Stamp struct{ info fs.FileInfo }

// Look is the stamp of a policy in a folder; none where it cannot be looked at.
func Look(dir, name string) Stamp {
	info, err := os.Lstat(Path(dir, name))
	if err != nil {
		return Stamp{}
	}
	return Stamp{info}
}

// Same says whether both are of one file that has not changed, or of none.
func (s Stamp) Same(other Stamp) bool {
	if s.info == nil || other.info == nil {
		return s.info == other.info
	}
	return os.SameFile(s.info, other.info) && s.info.ModTime().Equal(other.info.ModTime()) && s.info.Size() == other.info.Size()
}

// readOwn reads a file that nobody else can have changed.
func readOwn(dir, name string) (string, error) {
	info, err := os.Lstat(dir)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		return "", fmt.Errorf("%s is no directory", dir)
	}
	if err := checkOwner(dir, info); err != nil {
		return "", err
	}
	file, err := openFile(Path(dir, name))
	if err != nil {
		return "", err
	}
	defer file.Close()
	info, err = file.Stat()
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s is no regular file", file.Name())
	}
	if err := checkOwner(file.Name(), info); err != nil {
		return "", err
	}
	text, err := io.ReadAll(io.LimitReader(file, maxFileBytes+1))
	return string(text), err
}

// Write puts a policy into a folder, in place of the one before: a reader finds the
// one or the other. The folder is made where there is none.
func (f *File) Write(dir, name string) (err error) {
	f.Digest, f.pulled = Digest([]byte(f.Text)), f.Pulled.UTC().Format(time.RFC3339)
	path := Path(dir, name)
	file, err := os.CreateTemp(dir, "."+name+".*.tmp")
	if err != nil {
		return err
	}
	_, err = file.Write(append(fields.Write(f), '\n'))
	// On the disk before it has the name: after a power cut there must not be a file
	// without a content.
	err = errors.Join(err, file.Chmod(0o644), file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		os.Remove(file.Name())
	}
	return err
}

// Make makes a folder, if there is none, and checks it as Read does.
func Make(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is no directory", dir)
	}
	return checkOwner(dir, info)
}

// Faults are what is wrong with a document, an envelope or a file, each with its
// place.
func Faults(err error) (list []string) {
	var known *abi.Error
	if !errors.As(err, &known) {
		return []string{err.Error()}
	}
	for _, f := range faultsOf(known) {
		list = append(list, f.Error())
	}
	return list
}
