//go:build unix && !linux

package process

// Only Linux can look into a pipe, and make one smaller.

func openPipeSource(int) (source, error) { return &readSource{}, nil }

func resize(_ *ownPipe, pages int) bool { return pages == 1 }
