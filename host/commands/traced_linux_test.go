package commands

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What the installed commands look for in a user's homes, as their system calls
// show, is what is known of them here. The rest is said to add no request.
func TestSettingsAsTheSystemSees(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed, so nobody sees what the commands look for")
	}
	if out, err := exec.Command(strace, "-o", os.DevNull, "true").CombinedOutput(); err != nil {
		t.Skipf("nothing may be traced here: %s", out)
	}
	for _, c := range []struct {
		argv     []string
		settings func(map[string]string) ([]string, bool)
		harmless string // what else it may look for: credentials, cookies, caches, where its server is
		sees     bool   // it looks for settings before it is connected
	}{
		{[]string{"curl", "-sS", "http://127.0.0.1:1/"}, curlConfigs, `/\.netrc$|/\.config$`, true},
		{[]string{"psql", "-h", "127.0.0.1", "-p", "1", "-c", "SELECT"}, psqlConfigs, `/\.pgpass$|/\.pg_service\.conf$|/\.postgresql(/|$)|/\.postgresqlrc$`, false},
		{[]string{"redis-cli", "-p", "1", "GET", "a"}, nil, `^$`, false},
		{[]string{"kubectl", "-s", "http://127.0.0.1:1", "get", "pods"}, nil, `/\.kube(/(config|\.kubeconfig|kuberc|cache.*))?$`, false},
	} {
		t.Run(c.argv[0], func(t *testing.T) {
			if _, err := exec.LookPath(c.argv[0]); err != nil {
				t.Skipf("%s is not installed", c.argv[0])
			}
			root := t.TempDir()
			vars := map[string]string{"HOME": root + "/home", "XDG_CONFIG_HOME": root + "/xdg", "CURL_HOME": root + "/curl", "PATH": os.Getenv("PATH")}
			var env []string
			for name, value := range vars {
				env = append(env, name+"="+value)
				if name != "PATH" {
					if err := os.Mkdir(value, 0o700); err != nil {
						t.Fatal(err)
					}
				}
			}
			account, _ := accountHome()
			log := filepath.Join(root, "log")
			cmd := exec.Command(strace, append([]string{"-f", "-s", "4096", "-e", "trace=file", "-o", log}, c.argv...)...)
			cmd.Env = env
			cmd.Run() // it cannot connect
			known := map[string]bool{}
			if c.settings != nil {
				files, _ := c.settings(vars)
				for _, file := range files {
					known[file] = true
				}
			}
			seen, harmless := 0, regexp.MustCompile(c.harmless)
			for _, path := range lookedFor(t, log, append([]string{root + "/"}, account+"/")) {
				switch {
				case known[path]:
					seen++
				case path == log, harmless.MatchString(path), isFolder(path), onPath(path):
				default:
					t.Errorf("it looks for %s, of which nothing is known here", path)
				}
			}
			if c.sees && seen == 0 {
				t.Error("it looked for none of the settings that are known here")
			}
		})
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
		if startsWithAny(path, below...) && !slices.Contains(paths, path) {
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
