package diskcache

import (
	"runtime/debug"
	"testing"
)

func TestKeySeparatesWhatMustNotBeExchanged(t *testing.T) {
	keys := map[string]string{}
	for name, k := range map[string]string{
		"plain":            key("wasm", "wazero", "linux", "amd64", 7),
		"another file":     key("wasn", "wazero", "linux", "amd64", 7),
		"another compiler": key("wasm", "wazero2", "linux", "amd64", 7),
		"another system":   key("wasm", "wazero", "darwin", "amd64", 7),
		"another arch":     key("wasm", "wazero", "linux", "arm64", 7),
		"other features":   key("wasm", "wazero", "linux", "amd64", 3),
		"moved border":     key("wasm", "wazerol", "inux", "amd64", 7),
	} {
		if other, ok := keys[k]; ok {
			t.Errorf("%s and %s have the same key", name, other)
		}
		keys[k] = name
		if len(k) != 32 {
			t.Errorf("%s: the key is %q", name, k)
		}
	}
}

func TestKeyIsStable(t *testing.T) {
	a, err := Key("wasm")
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := Key("wasm"); a != b {
		t.Errorf("%s, then %s", a, b)
	}
	if b, _ := Key("other"); a == b {
		t.Error("two files have one key")
	}
}

func TestModuleID(t *testing.T) {
	const path = "example.org/compiler"
	for _, test := range []struct {
		name    string
		modules []*debug.Module
		want    string
	}{
		{"none", nil, ""},
		{"another", []*debug.Module{{Path: "example.org/compiler2", Version: "v1.0.0", Sum: "h1:x"}}, ""},
		{"released", []*debug.Module{{Path: path, Version: "v1.0.0", Sum: "h1:x"}}, path + "@v1.0.0 h1:x"},
		{"no checksum", []*debug.Module{{Path: path, Version: "v1.0.0"}}, ""},
		{"replaced by a directory", []*debug.Module{{Path: path, Version: "v1.0.0", Sum: "h1:x", Replace: &debug.Module{Path: "../mine"}}}, ""},
		{"replaced by a fork", []*debug.Module{{Path: path, Version: "v1.0.0", Sum: "h1:x", Replace: &debug.Module{Path: "fork", Version: "v9", Sum: "h1:y"}}}, "fork@v9 h1:y"},
	} {
		if got := moduleID(test.modules, path); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestProgramIDIsADigest(t *testing.T) {
	id, err := programID()
	if err != nil {
		t.Fatal(err)
	}
	if len(id) != len("program ")+64 {
		t.Errorf("id = %q", id)
	}
}
