package line

import (
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"outlast/internal/environ"
)

// Homes are the user's directories in which a command may look for its settings:
// that of HOME, if it is set, and the account's own. curl looks in both, psql in
// the account's until release 14, and in HOME's from 15 on. known is false where
// the account's cannot be learnt.
func Homes(env []string) (dirs []string, known bool) {
	if runtime.GOOS == "windows" {
		return nil, false // they look in places that are not known here
	}
	if environ.Get(env, "HOME") != "" {
		dirs = append(dirs, environ.Get(env, "HOME"))
	}
	account, known := AccountHome()
	if account != "" && account != environ.Get(env, "HOME") {
		dirs = append(dirs, account)
	}
	return dirs, known
}

// AccountHome is the home of this process's account, "" if it has none, as a
// container's that runs under any number. known is false if there may be one
// that this program cannot see: it is built without C, and so knows /etc/passwd
// alone. It is a variable for the tests.
var AccountHome = func() (dir string, known bool) {
	account, err := user.LookupId(strconv.Itoa(os.Geteuid()))
	if err == nil {
		return account.HomeDir, true
	}
	text, err := os.ReadFile("/etc/nsswitch.conf")
	return "", err != nil || !namesElsewhere(string(text))
}

// namesElsewhere says whether the system looks for accounts beside /etc/passwd
// (man nsswitch.conf). systemd's are those of services, without a home.
func namesElsewhere(conf string) bool {
	for line := range strings.Lines(conf) {
		line, _, _ = strings.Cut(line, "#")
		services, ok := strings.CutPrefix(strings.TrimSpace(line), "passwd:")
		if !ok {
			continue
		}
		for service := range strings.FieldsSeq(services) {
			if service != "files" && service != "compat" && service != "systemd" && service[0] != '[' {
				return true
			}
		}
	}
	return false
}

// AnyReadable says whether a command may find one of these files and read it. A
// file, or a home, that is closed to this process is closed to the command too.
func AnyReadable(paths []string) bool {
	for _, path := range paths {
		if mayRead(path) {
			return true
		}
	}
	return false
}

// AnyBegins says whether there may be a file whose path begins so.
func AnyBegins(prefixes []string) bool {
	for _, prefix := range prefixes {
		dir, start := filepath.Split(prefix)
		if dir == "" {
			dir = "."
		}
		entries, err := os.ReadDir(dir)
		if err != nil && mayRead(prefix) {
			return true // a directory can be closed to looking and open to reading
		}
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), start) && mayRead(filepath.Join(dir, e.Name())) {
				return true
			}
		}
	}
	return false
}
