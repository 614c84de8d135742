//go:build unix

package process

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestSpoolGivesBackWhatItKeeps(t *testing.T) {
	for _, piece := range []int{1000, 4096, inMemory, inMemory + 1} {
		all := text(3*inMemory + 17)
		var s spool
		for at := 0; at < len(all); at += piece {
			if err := s.append([]byte(all[at:min(at+piece, len(all))])); err != nil {
				t.Fatal(err)
			}
		}
		for _, size := range []int{777, 4096, 100000} {
			got, buf := "", make([]byte, size)
			for int64(len(got)) < s.size {
				n, err := s.readAt(buf, int64(len(got)))
				if err != nil || n == 0 {
					t.Fatal(n, err)
				}
				got += string(buf[:n])
			}
			if got != all {
				t.Errorf("pieces of %d, read in %d: %d bytes, or others", piece, size, len(got))
			}
		}
		if err := s.close(); err != nil {
			t.Error(err)
		}
	}
}

func TestSpoolIsInNoDirectory(t *testing.T) {
	for name, open := range map[string]func(string) (*os.File, error){"unnamed": openUnnamed, "named": openNamed} {
		dir := t.TempDir()
		f, err := open(dir)
		if err != nil {
			t.Fatal(name, err)
		}
		defer f.Close()
		if names, err := os.ReadDir(dir); err != nil || len(names) > 0 {
			t.Errorf("%s: %v, %v", name, names, err)
		}
		info, err := f.Stat()
		if err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
		var there, its unix.Stat_t
		if unix.Stat(dir, &there) != nil || unix.Fstat(int(f.Fd()), &its) != nil || there.Dev != its.Dev || its.Nlink != 0 {
			t.Errorf("%s: %d links, on device %d instead of %d", name, its.Nlink, its.Dev, there.Dev)
		}
	}
}

// noRoom are ways in which an input cannot be kept, and what is said then.
var noRoom = map[string]func(t *testing.T) (why string){
	"missing directory": func(t *testing.T) string {
		t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "missing"))
		return "missing: no such file or directory"
	},
	"full disk": fullDisk,
}

// The attempt that runs has all of its input, and nothing is lost for a reader
// after it. The next attempt, which would have too little, is refused.
func TestInputThatCannotBeKept(t *testing.T) {
	const size = 500000
	for name, limit := range noRoom {
		t.Run(name, func(t *testing.T) {
			for kind := range pipes {
				all := text(size)
				r, w := openBoth(t, kind)
				go func() { io.WriteString(w, all); w.Close() }()
				why := limit(t)
				s := newStdin(t, r)
				// A small input needs no file.
				for range 2 {
					if got := cat(t, s, fmt.Sprint(inMemory), "1"); got != all[:inMemory] {
						t.Errorf("%s: the small part: %d bytes, or others", kind, len(got))
					}
				}
				if got := cat(t, s, fmt.Sprint(size-10), "1"); got != all[:size-10] {
					t.Errorf("%s: the attempt that runs: %d bytes, or others", kind, len(got))
				}
				refused(t, s, "keeping a copy in "+os.TempDir(), why)
				if got, err := io.ReadAll(r); err != nil || exact(kind) && string(got) != all[size-10:] {
					t.Errorf("%s: %d bytes are left, %v", kind, len(got), err)
				}
			}
		})
	}
}
