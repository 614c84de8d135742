package meeting

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// room is a directory whose path leaves room for a socket's.
func room(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "meet")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func folder(t *testing.T, path string, mode os.FileMode) string {
	t.Helper()
	if os.Mkdir(path, 0o700) != nil || os.Chmod(path, mode) != nil {
		t.Fatal(path)
	}
	return path
}

// The user's own directory is used, and no other.
func TestDir(t *testing.T) {
	uid := os.Geteuid()
	own := strconv.Itoa(uid)
	for name, c := range map[string]struct {
		make func(run, temp string)
		want string // "": nothing is shared
	}{
		"neither is there":      {func(run, temp string) {}, "temp/outlast-" + own},
		"the session's":         {func(run, temp string) { folder(t, run+"/"+own, 0o700) }, "run/" + own + "/outlast"},
		"it is there":           {func(run, temp string) { folder(t, temp+"/outlast-"+own, 0o700) }, "temp/outlast-" + own},
		"others may look in":    {func(run, temp string) { folder(t, temp+"/outlast-"+own, 0o755) }, ""},
		"others may write":      {func(run, temp string) { folder(t, temp+"/outlast-"+own, 0o777) }, ""},
		"a mode with more":      {func(run, temp string) { folder(t, temp+"/outlast-"+own, 0o700|os.ModeSetgid) }, ""},
		"the session is open":   {func(run, temp string) { folder(t, run+"/"+own, 0o755) }, ""},
		"a link":                {func(run, temp string) { os.Symlink(folder(t, temp+"/x", 0o700), temp+"/outlast-"+own) }, ""},
		"a file":                {func(run, temp string) { os.WriteFile(temp+"/outlast-"+own, nil, 0o700) }, ""},
		"the session is a link": {func(run, temp string) { os.Symlink(folder(t, temp+"/x", 0o700), run+"/"+own) }, ""},
		"a temp without sticky": {func(run, temp string) { os.Chmod(temp, 0o777) }, ""},
		"nowhere to make it":    {func(run, temp string) { os.Remove(temp) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := room(t)
			run, temp := folder(t, dir+"/run", 0o755), folder(t, dir+"/temp", 0o777|os.ModeSticky)
			c.make(run, temp)
			got, err := dirIn(run, temp, uid)
			if c.want == "" {
				if err == nil {
					t.Error(got)
				}
				return
			}
			if err != nil || got != filepath.Join(dir, c.want) {
				t.Errorf("%s, %v", got, err)
			}
		})
	}
}

// Another user's directory, which has the name that ours would.
func TestAnothersDir(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root gives directories away")
	}
	dir := room(t)
	temp := folder(t, dir+"/temp", 0o777|os.ModeSticky)
	if err := os.Chown(folder(t, temp+"/outlast-0", 0o700), 1, 1); err != nil {
		t.Fatal(err)
	}
	if got, err := dirIn(dir+"/run", temp, 0); err == nil {
		t.Error(got)
	}
	if err := os.Chown(temp, 1, 1); err != nil {
		t.Fatal(err)
	}
	os.Remove(temp + "/outlast-0")
	if got, err := dirIn(dir+"/run", temp, 0); err == nil {
		t.Error("in a directory of another user:", got)
	}
}

// Where there is no room for a file nobody meets, and nothing is left.
func TestAFullDisk(t *testing.T) {
	dir := room(t)
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "nr_inodes=2,size=4k,mode=700"); err != nil {
		t.Skip("no file system can be mounted: ", err)
	}
	defer syscall.Unmount(dir, 0)
	os.WriteFile(dir+"/last", nil, 0o600)
	place, err := At(dir, "full")
	if err != nil {
		t.Fatal(err)
	}
	if seat, conn, _, err := place.Enter(0); err == nil {
		t.Error(seat, conn)
	}
}

// What a dead process has left is no obstacle.
func TestAStaleSocket(t *testing.T) {
	dir := room(t)
	place, err := At(dir, "stale")
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.ListenUnix("unix", place.address(place.socket(7)))
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	os.WriteFile(place.socket(3), nil, 0o600)
	os.WriteFile(place.socket(maxTerm)+"0", nil, 0o600) // no term
	seat, _, term, err := place.Enter(0)
	if err != nil || seat == nil || term != 8 {
		t.Fatalf("%v, term %d, %v", seat, term, err)
	}
	_, conn, _, err := place.Enter(0)
	if err != nil || conn == nil {
		t.Fatal("the next does not follow: ", err)
	}
	conn.Close()
	seat.Leave(false)
	names := 0
	_ = place.each("", func(path, _ string) {
		if !strings.HasSuffix(path, "0") {
			names++
		}
	})
	if names != 0 {
		t.Errorf("%d names are left", names)
	}
}

// Places differ with each part, and what looks like another way to split them.
func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for _, parts := range [][]string{{"a", "b"}, {"ab"}, {"b", "a"}, {"a", "b", ""}, {"a"}} {
		place, err := At("/", parts...)
		if err != nil {
			t.Fatal(err)
		}
		if seen[place.Name()] {
			t.Errorf("%q has the name of another", parts)
		}
		seen[place.Name()] = true
	}
}
