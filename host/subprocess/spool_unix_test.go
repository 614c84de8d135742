//go:build unix

package subprocess

import (
	"bytes"
	"io"
	"os"
	"testing"
)

func TestSpoolIsInNoDirectory(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	s := &Stdin{kind: piped}
	s.keep([]byte("secret"))
	s.keep([]byte(" too"))
	if s.lost != nil {
		t.Fatal(s.lost)
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) > 0 {
		t.Errorf("%v, %v", names, err)
	}
	var got bytes.Buffer
	if _, err := io.Copy(&got, io.NewSectionReader(s.spool, 0, s.length)); err != nil || got.String() != "secret too" {
		t.Errorf("%q, %v", &got, err)
	}
	if info, err := s.spool.Stat(); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
