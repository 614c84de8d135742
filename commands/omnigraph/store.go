package omnigraph

import "strings"

// storage is how a store's address is read.
type storage int

const (
	localPath     storage = iota // a path, or a file: URI
	objectStorage                // opened directly, but over the network
	otherScheme                  // a server's, or unknown
)

// scheme reads a store's address as omnigraph does: without "://" it is a path,
// whatever it looks like.
func scheme(store string) storage {
	name, _, found := strings.Cut(store, "://")
	if !found || name == "file" {
		return localPath
	}
	switch name {
	case "s3", "az", "gs":
		return objectStorage
	}
	return otherScheme
}
