package diskcache

import (
	"os"
	"path/filepath"
	"testing"
)

func TestDefaultDir(t *testing.T) {
	t.Setenv(EnvDir, "/some/where")
	if got := DefaultDir(); got != "/some/where" {
		t.Errorf("got %q", got)
	}
	t.Setenv(EnvDir, "off")
	if got := DefaultDir(); got != "" {
		t.Errorf("off: got %q", got)
	}
	t.Setenv(EnvDir, "")
	base, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	if got := DefaultDir(); got != filepath.Join(base, "outlast") {
		t.Errorf("unset: got %q", got)
	}
	for _, name := range []string{"HOME", "XDG_CACHE_HOME", "LocalAppData"} {
		t.Setenv(name, "")
	}
	if got := DefaultDir(); got != "" {
		t.Errorf("without a home: got %q", got)
	}
}
