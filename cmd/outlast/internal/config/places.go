package config

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// fileName is outlast's file in a configuration directory.
const fileName = "outlast/config.yaml"

// Files are the files that are looked for, nearest first: the user's, then the
// system's. env looks up a variable. None of them depends on the current
// directory: as the XDG Base Directory Specification has it, a path in a
// variable that is not absolute is ignored.
func Files(env func(string) string) []string { return filesOn(runtime.GOOS, env) }

func filesOn(system string, env func(string) string) []string {
	var dirs []string
	add := func(dir string, more ...string) {
		if isAbsolute(dir) {
			dirs = append(dirs, filepath.Join(append([]string{dir}, more...)...))
		}
	}
	if config := env("XDG_CONFIG_HOME"); isAbsolute(config) {
		add(config)
	} else if system != "windows" {
		add(home(env), ".config")
	}
	switch system {
	case "darwin":
		add(home(env), "Library", "Application Support")
	case "windows":
		add(env("AppData"))
		add(env("ProgramData"))
		return inDirs(dirs)
	}
	shared := env("XDG_CONFIG_DIRS")
	if shared == "" {
		shared = "/etc/xdg"
	}
	for _, dir := range strings.Split(shared, ":") {
		add(dir)
	}
	add("/etc")
	return inDirs(dirs)
}

// inDirs is outlast's file in each directory, once.
func inDirs(dirs []string) (files []string) {
	for _, dir := range dirs {
		if file := filepath.Join(dir, filepath.FromSlash(fileName)); !slices.Contains(files, file) {
			files = append(files, file)
		}
	}
	return files
}

// home is the user's directory, "" if the environment does not tell.
func home(env func(string) string) string {
	if runtime.GOOS == "windows" {
		return env("USERPROFILE")
	}
	return env("HOME")
}

func isAbsolute(path string) bool { return filepath.IsAbs(path) }

func joinHome(home, rest string) string { return filepath.Join(home, filepath.FromSlash(rest)) }
