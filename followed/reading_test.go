package followed_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"outlast/followed"
)

// reading is a case of testdata/reading.json, by which the readers of every host are
// tested: a file, who may write it, and what is read.
type reading struct {
	File        string
	Mode        string // octal; 0644 unless given
	FolderMode  string `json:"folder_mode"` // 0755 unless given
	Owner       int
	FolderOwner int `json:"folder_owner"`
	Serial      int64
	Expired     bool
	Why         string // is part of the fault
}

func TestEveryHostReadsAlike(t *testing.T) {
	var cases []reading
	text, err := os.ReadFile("testdata/reading.json")
	if err == nil {
		err = json.Unmarshal(text, &cases)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.File+c.Mode+c.FolderMode+c.Why, func(t *testing.T) {
			dir := c.folder(t)
			r, err := followed.Read(dir, "orders")
			switch {
			case c.Why != "":
				if err == nil || !strings.Contains(err.Error(), c.Why) {
					t.Errorf("%v, and not %q", err, c.Why)
				}
			case err != nil:
				t.Error(err)
			case r.Serial != c.Serial || r.Expires.IsZero() == c.Expired || !r.Pulled.Equal(time.Date(2026, 3, 4, 8, 30, 0, 0, time.UTC)):
				t.Errorf("read %+v", r)
			}
		})
	}
}

func (c *reading) folder(t *testing.T) string {
	if c.Mode+c.FolderMode != "" && runtime.GOOS == "windows" {
		t.Skip("modes are Unix's")
	}
	if c.Owner+c.FolderOwner != 0 && os.Geteuid() != 0 {
		t.Skip("only root gives files away")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "orders.json")
	text, err := os.ReadFile(filepath.Join("testdata/reading", c.File+".json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	set(t, path, c.Mode, 0o644, c.Owner)
	set(t, dir, c.FolderMode, 0o755, c.FolderOwner)
	return dir
}

func set(t *testing.T, path, octal string, mode uint64, owner int) {
	var err error
	if octal != "" {
		mode, err = strconv.ParseUint(octal, 8, 32)
	}
	if err == nil {
		err = os.Chmod(path, os.FileMode(mode))
	}
	if err == nil && owner != 0 {
		err = os.Chown(path, owner, -1)
	}
	if err != nil {
		t.Fatal(err)
	}
}
