package link

import (
	"runtime"
	"testing"
)

func TestInvoked(t *testing.T) {
	windows := runtime.GOOS == "windows"
	for argv0, want := range map[string]struct {
		name  string
		under bool
	}{
		"":                        {"", false},
		"outlast":                 {"outlast", false},
		"/usr/bin/outlast":        {"outlast", false},
		"./outlast-1.2":           {"outlast-1.2", false},
		"outlast_linux_amd64":     {"outlast_linux_amd64", false},
		"omnigraph":               {"omnigraph", true},
		"/opt/bin/omnigraph":      {"omnigraph", true},
		"outlast/omnigraph":       {"omnigraph", true},
		"-omnigraph":              {"-omnigraph", true}, // no policy has this name
		"omnigraph.exe":           {choose(windows, "omnigraph", "omnigraph.exe"), true},
		"my outlast/omni\xffraph": {"omni\xffraph", true},
	} {
		if name, under := Invoked(argv0); name != want.name || under != want.under {
			t.Errorf("%q: %q, %v", argv0, name, under)
		}
	}
}

func choose(cond bool, yes, no string) string {
	if cond {
		return yes
	}
	return no
}
