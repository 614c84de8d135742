//go:build unix

package omnigraph

import (
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
)

// What is no regular file is refused, whatever it is, also behind a link; and a
// link that leads nowhere makes nothing there.
func TestWhatIsNoLockFile(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := syscall.Mkfifo("fifo.lock", 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir("dir.lock", 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", "socket.lock")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for link, target := range map[string]string{
		"null.lock": "/dev/null", "tofifo.lock": "fifo.lock", "nowhere.lock": "elsewhere", "twice.lock": "nowhere.lock", "itself.lock": "itself.lock",
	} {
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		"fifo.lock": "a named pipe", "tofifo.lock": "a named pipe", "dir.lock": "a directory", "socket.lock": "a socket",
		"/dev/null": "a device", "null.lock": "a device", "itself.lock": "",
		"nowhere.lock": `a symbolic link to "elsewhere", which does not exist`, "twice.lock": "which does not exist",
	} {
		_, err := Lock(t.Context(), []string{path}, nil)
		if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := os.Lstat("elsewhere"); !os.IsNotExist(err) {
		t.Errorf("a link that led nowhere has made a file there: %v", err)
	}
}

// A link that leads to a file is followed, as witan-core follows it.
func TestALockBehindALink(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("real.lock", []byte("somebody's"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real.lock", "g.lock"); err != nil {
		t.Fatal(err)
	}
	release := lock(t, "g.lock")
	file, _, err := openRegular("real.lock")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if ok, err := tryFlock(file); ok || err != nil {
		t.Errorf("the file behind the link: locked %t, %v", !ok, err)
	}
	if err := release(); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile("real.lock"); err != nil || string(text) != "somebody's" {
		t.Errorf("%q, %v", text, err)
	}
}
