//go:build unix

package omnigraph

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// What is no regular file is not read: a pipe's content is the command's own.
func TestConfigurationsThatAreNoFiles(t *testing.T) {
	argv := []string{"omnigraph", "query", "q", "--server", "prod"}
	env := home(t, "")
	path := filepath.Join(strings.TrimPrefix(env[0], "HOME="), ".omnigraph", "config.yaml")
	for name, put := range map[string]func() error{
		"a folder":        func() error { return os.Mkdir(path, 0o700) },
		"a pipe":          func() error { return syscall.Mkfifo(path, 0o600) },
		"a device":        func() error { return os.Symlink("/dev/zero", path) },
		"a loop":          func() error { return os.Symlink(path, path) },
		"a dangling link": func() error { return os.Symlink("/nowhere", path) },
	} {
		os.Remove(path)
		if err := put(); err != nil {
			t.Fatal(err)
		}
		if got, why := Server(argv, env); got != "" || why == "" {
			t.Errorf("%s: %q because %q", name, got, why)
		}
	}
}
