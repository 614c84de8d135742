package linetest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"outlast/commands/internal/line"
)

// Traced is a command whose system calls show what it looks for in a user's
// homes.
type Traced struct {
	Argv []string
	// Settings are the files of which its reader knows, in an environment.
	Settings func(env []string) (files []string, known bool)
	// Harmless is what else it may look for, which adds no request: credentials,
	// cookies, caches, where its server is.
	Harmless string
	Sees     bool // it looks for settings before it is connected
}

// Check compares what the installed command looks for with what is known of it.
func (c Traced) Check(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed, so nobody sees what the commands look for")
	}
	if out, err := exec.Command(strace, "-o", os.DevNull, "true").CombinedOutput(); err != nil {
		t.Skipf("nothing may be traced here: %s", out)
	}
	if _, err := exec.LookPath(c.Argv[0]); err != nil {
		t.Skipf("%s is not installed", c.Argv[0])
	}
	root := t.TempDir()
	env := []string{"PATH=" + os.Getenv("PATH")}
	for name, dir := range map[string]string{"HOME": root + "/home", "XDG_CONFIG_HOME": root + "/xdg", "CURL_HOME": root + "/curl"} {
		env = append(env, name+"="+dir)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	account, _ := line.AccountHome()
	log := filepath.Join(root, "log")
	cmd := exec.Command(strace, append([]string{"-f", "-s", "4096", "-e", "trace=file", "-o", log}, c.Argv...)...)
	cmd.Env = env
	cmd.Run() // it cannot connect
	known := map[string]bool{}
	if c.Settings != nil {
		files, _ := c.Settings(env)
		for _, file := range files {
			known[file] = true
		}
	}
	seen, harmless := 0, regexp.MustCompile(c.Harmless)
	for _, path := range lookedFor(t, log, []string{root + "/", account + "/"}) {
		switch {
		case known[path]:
			seen++
		case path == log, harmless.MatchString(path), isFolder(path), onPath(path):
		default:
			t.Errorf("it looks for %s, of which nothing is known here", path)
		}
	}
	if c.Sees && seen == 0 {
		t.Error("it looked for none of the settings that are known here")
	}
}

// lookedFor are the paths in a trace that stand below one of the folders.
func lookedFor(t *testing.T, log string, below []string) (paths []string) {
	t.Helper()
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range regexp.MustCompile(`(?m)^\d+ +(?:open|openat|access|faccessat2?|stat|lstat|newfstatat|statx|readlink)\((?:AT_FDCWD, )?"([^"]+)"`).FindAllStringSubmatch(string(text), -1) {
		path := found[1]
		if line.StartsWithAny(path, below...) && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	return paths
}

// onPath says whether a path is one of PATH's folders, or in one.
func onPath(path string) bool {
	folders := filepath.SplitList(os.Getenv("PATH"))
	return slices.Contains(folders, path) || slices.Contains(folders, filepath.Dir(path))
}

func isFolder(path string) bool {
	info, err := os.Stat(strings.TrimSuffix(path, "/"))
	return err == nil && info.IsDir()
}
