package omnigraph

import (
	"os"
	"path/filepath"
	"strings"
)

// LockPaths are the files that writers of the store of inv lock, in the order in
// which they must be taken; none where there is no lock: for a read, a server,
// object storage. A relative one is meant from the current directory, which must
// be the one in which omnigraph runs.
//
// The first is the path that witan-core uses, to the byte, so that both exclude
// each other: the store as it was given with ".lock" behind, as Python's pathlib
// writes it. It depends on how the store is spelt: "g/", a symbolic link to g
// and a file: URI have another each. So the second, if it is another path, is
// the lock of the store's real path, which all spellings have in common. It
// comes last everywhere, so that no two writers wait for each other.
func LockPaths(inv Invocation) []string {
	if !inv.Write || inv.Store == "" || scheme(inv.Store) != localPath {
		return nil
	}
	paths := []string{purePosixPath(inv.Store + ".lock")}
	if real := realPath(inv.Store); real != "" && real+".lock" != paths[0] {
		paths = append(paths, real+".lock")
	}
	return paths
}

// isNobodysTree says whether a lock's path is what pathlib makes of a file: URI,
// a relative path that starts with a directory "file:", and that is not there:
// witan-core has not made it, so nobody holds a lock in it, and it is not made
// here. Who writes the store by its URI has the lock of its real path.
func isNobodysTree(path string) bool {
	if !strings.HasPrefix(path, "file:/") {
		return false
	}
	_, err := os.Stat(filepath.Dir(path))
	return os.IsNotExist(err)
}

// purePosixPath is str(pathlib.PurePosixPath(s)): without doubled and trailing
// slashes and "." components, but with "..". Two leading slashes, and only two,
// stay two, as POSIX leaves their meaning open.
func purePosixPath(s string) string {
	rest := strings.TrimLeft(s, "/")
	root := ""
	switch len(s) - len(rest) {
	case 0:
	case 2:
		root = "//"
	default:
		root = "/"
	}
	var parts []string
	for part := range strings.SplitSeq(rest, "/") {
		if part != "" && part != "." {
			parts = append(parts, part)
		}
	}
	if root == "" && len(parts) == 0 {
		return "."
	}
	return root + strings.Join(parts, "/")
}
