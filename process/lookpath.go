package process

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// defaultPath is where execvp(3) looks without PATH in the environment: glibc's
// _CS_PATH. A PATH that is empty is the working directory.
const defaultPath = "/bin:/usr/bin"

// LookPath is the file that a command of this name is, as execvp(3) finds it. A
// name with a slash is that file. Its errors are those of exec.LookPath, but for
// a command in a working directory that PATH names, which is found.
func LookPath(name string) (string, error) {
	path, err := exec.LookPath(name)
	if runtime.GOOS == "windows" {
		return path, err
	}
	if errors.Is(err, exec.ErrDot) {
		return path, nil
	}
	if found := withoutPath(name); found != "" {
		return found, nil
	}
	return path, err
}

// withoutPath is the file of a command where PATH is not set or empty, for which
// the standard library finds nothing; "" if there is none, or where PATH is set.
func withoutPath(name string) string {
	if os.Getenv("PATH") != "" || strings.ContainsRune(name, filepath.Separator) || runtime.GOOS == "windows" {
		return ""
	}
	for _, dir := range folders() {
		if path, err := exec.LookPath(dir + string(filepath.Separator) + name); err == nil {
			return path
		}
	}
	return ""
}

// folders are where commands are looked for.
func folders() []string {
	path, set := os.LookupEnv("PATH")
	if !set && runtime.GOOS != "windows" {
		path = defaultPath
	}
	if path == "" {
		return []string{"."}
	}
	return filepath.SplitList(path)
}

// Find says, without starting it, why a command cannot be found, as a
// *StartError; nil if it can.
func Find(name string) error {
	if name == "" {
		return noCommand()
	}
	if _, err := LookPath(name); err != nil {
		return &StartError{Command: name, ExitCode: shellExitCode(name, err), Err: plain(err)}
	}
	return nil
}
