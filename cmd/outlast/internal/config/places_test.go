package config

import (
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Unix paths")
	}
	tests := []struct {
		name, system string
		env          map[string]string
		want         []string
	}{
		{"as it comes", "linux", map[string]string{"HOME": "/home/u"},
			[]string{"/home/u/.config/outlast/config.yaml", "/etc/xdg/outlast/config.yaml", "/etc/outlast/config.yaml"}},
		{"XDG", "linux", map[string]string{"HOME": "/home/u", "XDG_CONFIG_HOME": "/c", "XDG_CONFIG_DIRS": "/a:/b:/a"},
			[]string{"/c/outlast/config.yaml", "/a/outlast/config.yaml", "/b/outlast/config.yaml", "/etc/outlast/config.yaml"}},
		{"no home", "linux", nil, []string{"/etc/xdg/outlast/config.yaml", "/etc/outlast/config.yaml"}},
		{"relative paths are ignored", "linux", map[string]string{"HOME": "u", "XDG_CONFIG_HOME": ".", "XDG_CONFIG_DIRS": "a::./b:/etc"},
			[]string{"/etc/outlast/config.yaml"}},
		{"a relative XDG_CONFIG_HOME", "linux", map[string]string{"HOME": "/home/u", "XDG_CONFIG_HOME": "c", "XDG_CONFIG_DIRS": "/etc"},
			[]string{"/home/u/.config/outlast/config.yaml", "/etc/outlast/config.yaml"}},
		{"macOS", "darwin", map[string]string{"HOME": "/Users/u"},
			[]string{"/Users/u/.config/outlast/config.yaml", "/Users/u/Library/Application Support/outlast/config.yaml", "/etc/xdg/outlast/config.yaml", "/etc/outlast/config.yaml"}},
		{"macOS with XDG", "darwin", map[string]string{"HOME": "/Users/u", "XDG_CONFIG_HOME": "/c", "XDG_CONFIG_DIRS": "/etc"},
			[]string{"/c/outlast/config.yaml", "/Users/u/Library/Application Support/outlast/config.yaml", "/etc/outlast/config.yaml"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := filesOn(test.system, func(name string) string { return test.env[name] }); !slices.Equal(got, test.want) {
				t.Errorf("%q", got)
			}
		})
	}
}

// Whatever the environment says, no file is looked for from the current
// directory.
func TestNeverTheCurrentDirectory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		path := rapid.OneOf(rapid.SampledFrom([]string{"", ".", "..", "./x", "~", "~/x", ":", "a:b", "/a:b", " /a", "\x00"}), rapid.String())
		env := map[string]string{}
		for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "AppData", "ProgramData", "USERPROFILE"} {
			env[name] = path.Draw(t, name)
		}
		system := rapid.SampledFrom([]string{"linux", "darwin", "windows"}).Draw(t, "system")
		for _, file := range filesOn(system, func(name string) string { return env[name] }) {
			if !filepath.IsAbs(file) {
				t.Fatalf("%q", file)
			}
		}
	})
}
