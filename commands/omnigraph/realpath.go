package omnigraph

import (
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
)

// realPath is the one path of a local store, however it is spelt, as omnigraph
// finds it: absolute, "." and ".." taken out as text, symbolic links resolved as
// far as there is something. It is "" for a URI that omnigraph refuses.
func realPath(store string) string {
	path := store
	if strings.HasPrefix(store, "file://") {
		path = fileURIPath(store)
	}
	if path == "" {
		return ""
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "" // there is no current directory, so omnigraph finds nothing either
	}
	missing := ""
	for there := path; ; there = filepath.Dir(there) {
		if real, err := filepath.EvalSymlinks(there); err == nil {
			return filepath.Join(real, missing)
		}
		if there == filepath.Dir(there) {
			return path
		}
		missing = filepath.Join(filepath.Base(there), missing)
	}
}

// fileURIPath is the path that a file: URI names, "" if it is none of this
// machine's.
func fileURIPath(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Host != "" && !strings.EqualFold(u.Host, "localhost") {
		return ""
	}
	if runtime.GOOS == "windows" { // file:///C:/g
		return strings.TrimPrefix(u.Path, "/")
	}
	return u.Path
}
