// Package inputs finds what a command line reads, to tell one write from
// another of the same words.
package inputs

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// outputOptions are those whose value many commands write to. A file that the
// command itself makes must not turn its next run into another write.
var outputOptions = []string{
	"-o", "--output", "--output-file", "--output-document", "--out", "-D", "--dump-header", "-c", "--cookie-jar",
	"--trace", "--trace-ascii", "--stderr", "--log-file", "-L", "--etag-save", "--hsts", "--alt-svc", "--report", "--events",
}

// wholeFile is up to how many bytes a file is read as a whole, and partFile is
// how much of each end is of a longer one (choices: half a second's work at
// most). Two long files that differ in the middle only count as the same.
const (
	wholeFile = 256 << 20
	partFile  = 1 << 20
)

// Digests are the inputs that can be told before the command runs, each with its
// digest: the regular files that arguments name, also behind @, = and <, and
// stdin where it is a file, from where it stands. What comes through a pipe
// cannot be told: all such inputs count as the same.
func Digests(argv []string, stdin *os.File, takesStdin bool) (list []string, err error) {
	for i, arg := range argv {
		if i == 0 || slices.Contains(outputOptions, argv[i-1]) || isOutput(arg) {
			continue
		}
		for _, path := range paths(arg) {
			info, err := os.Stat(path)
			if err != nil || !info.Mode().IsRegular() {
				continue
			}
			sum, err := ofFile(path, info.Size())
			if err != nil {
				return nil, fmt.Errorf("reading the input %s: %w", path, err)
			}
			list = append(list, fmt.Sprintf("%d %s %s", i, path, sum))
		}
	}
	if !takesStdin {
		return list, nil
	}
	info, err := stdin.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return list, nil
	}
	at, err := stdin.Seek(0, io.SeekCurrent)
	if err != nil {
		return list, nil
	}
	sum, err := digest(stdin, at, info.Size())
	if err != nil {
		return nil, fmt.Errorf("reading standard input: %w", err)
	}
	return append(list, "stdin "+sum), nil
}

// isOutput says that an argument is an output option with its value.
func isOutput(arg string) bool {
	name, _, joined := strings.Cut(arg, "=")
	return joined && slices.Contains(outputOptions, name)
}

// paths are what an argument may name a file by: as it is, or behind one of the
// signs that commands put before a file.
func paths(arg string) (list []string) {
	add := func(s string) {
		for _, p := range []string{s, before(s, ";"), before(s, ",")} {
			if p != "" && !slices.Contains(list, p) {
				list = append(list, p)
			}
		}
	}
	add(arg)
	for i, r := range arg {
		if strings.ContainsRune("@=<:", r) {
			add(arg[i+1:])
		}
	}
	if len(arg) > 2 && arg[0] == '-' && arg[1] != '-' { // as in -Tfile
		add(arg[2:])
	}
	return list
}

func before(s, mark string) string {
	s, _, _ = strings.Cut(s, mark)
	return s
}

func ofFile(path string, size int64) (string, error) {
	file, err := os.Open(path)
	if os.IsPermission(err) {
		return "unreadable", nil // so it is for the command
	}
	if err != nil {
		return "", err
	}
	defer file.Close()
	return digest(file, 0, size)
}

func digest(file io.ReaderAt, from, size int64) (string, error) {
	h := sha256.New()
	parts := []io.Reader{io.NewSectionReader(file, from, size-from)}
	if size-from > wholeFile {
		parts = []io.Reader{io.NewSectionReader(file, from, partFile), io.NewSectionReader(file, size-partFile, partFile)}
	}
	fmt.Fprintf(h, "%d:", size-from)
	for _, part := range parts {
		if _, err := io.Copy(h, part); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
