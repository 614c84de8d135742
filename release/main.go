// Command release makes what a version is published as, from the source that it
// lies in. ./build.sh release gives it a copy of the last commit.
//
//	release -out DIR -commit ID -date SECONDS
//	release version    writes the version of abi/abi.go where else it must stand
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"outlast/abi"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	flags := flag.NewFlagSet("release", flag.ExitOnError)
	out := flags.String("out", "", "the folder for what is made; it must be new or empty")
	commit := flags.String("commit", "", "the commit that the source is of")
	date := flags.Int64("date", 0, "the commit's time, in seconds since 1970")
	flags.Parse(args)
	root := ".."
	if flags.Arg(0) == "version" {
		return stampVersion(root, abi.Release)
	}
	syscall.Umask(0o022)
	r, err := newRelease(root, *out, *commit, time.Unix(*date, 0).UTC())
	if err != nil {
		return err
	}
	defer os.RemoveAll(r.work)
	return r.make()
}

// release is one version, and what it is made from.
type release struct {
	names
	root, out, work string // folders: the source, what is made, what is thrown away
	version, commit string
	when            time.Time // the commit's; every file's and every package's
	targets         []target
	build           func(t target, path string) error
	programs        map[target]string
	extra           []file // man page, completions and licence
}

func newRelease(root, out, commit string, when time.Time) (*release, error) {
	n, err := readNames()
	if err != nil {
		return nil, err
	}
	r := &release{names: n, root: root, version: abi.Release, commit: commit, when: when, targets: allTargets, programs: map[target]string{}}
	r.build = r.buildAsShipped
	if r.out, err = filepath.Abs(out); err != nil {
		return nil, err
	}
	if left, _ := os.ReadDir(r.out); len(left) > 0 {
		return nil, fmt.Errorf("%s is not empty", r.out)
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return nil, err
	}
	r.work, err = os.MkdirTemp("", "release")
	return r, err
}

func (r *release) make() error {
	for _, step := range []func() error{
		r.text, r.binaries, r.archives, r.packages, r.images, r.python, r.npm, r.bom, r.provenance, r.sums,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// path is that of a file of the release.
func (r *release) path(format string, args ...any) string {
	return filepath.Join(r.out, fmt.Sprintf(format, args...))
}
