package diskcache

import (
	"os"
	"path/filepath"
)

// EnvDir names the variable that says where the cache is; "off" is nowhere.
const EnvDir = "OUTLAST_CACHE_DIR"

// DefaultDir is the user's cache directory: $OUTLAST_CACHE_DIR, else "outlast"
// in the system's place for caches. It is "" if that is "off", or if the system
// has no such place (because there is no HOME, say).
func DefaultDir() string {
	switch dir := os.Getenv(EnvDir); dir {
	case "off":
		return ""
	case "":
		base, err := os.UserCacheDir()
		if err != nil {
			return ""
		}
		return filepath.Join(base, "outlast")
	default:
		return dir
	}
}
