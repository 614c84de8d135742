package process

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// loopDevice is a block device with these contents.
func loopDevice(t *testing.T, contents string) *os.File {
	t.Helper()
	file := filepath.Join(t.TempDir(), "disk")
	if err := os.WriteFile(file, []byte(contents), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("losetup", "--find", "--show", "--read-only", file).Output()
	if err != nil {
		t.Skip("no loop devices here: ", err)
	}
	device := strings.TrimSpace(string(out))
	t.Cleanup(func() { exec.Command("losetup", "--detach", device).Run() })
	f, err := os.Open(device)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func TestBlockDeviceIsReadFromItsPlaceEachTime(t *testing.T) {
	all := text(64 << 10)
	f := loopDevice(t, all)
	if _, err := f.Seek(1000, 0); err != nil {
		t.Fatal(err)
	}
	s := newStdin(t, f)
	for _, n := range []int{5000, 9000, 7} {
		if got := cat(t, s, fmt.Sprint(n), "1"); got != all[1000:1000+n] {
			t.Errorf("%d bytes, or others", len(got))
		}
	}
	if place, err := f.Seek(0, 1); err != nil || place != 1007 {
		t.Errorf("it stands at %d, %v", place, err)
	}
}

// Some files of /proc and /sys have no place.
func TestFileWithoutAPlaceIsHandedOnOnce(t *testing.T) {
	f, err := os.Open("/proc/self/ns/uts")
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	if s := newStdin(t, f); s.kind != once {
		t.Errorf("kind %d", s.kind)
	}
}
