package omnigraph

import "strings"

// LockPath is the file that writers of the store of inv lock, or "" where there
// is none: for a read, a server, object storage. It is the path that witan-core
// uses, to the byte, so that both exclude each other: the store as it was given
// with ".lock" behind, as Python's pathlib writes it. A relative one is meant
// from the directory in which omnigraph runs; that of a file: URI is relative
// too, since witan-core does not take URIs apart.
func LockPath(inv Invocation) string {
	if !inv.Write || inv.Store == "" || scheme(inv.Store) != localPath {
		return ""
	}
	return purePosixPath(inv.Store + ".lock")
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
