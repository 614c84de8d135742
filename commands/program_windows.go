package commands

// onlyRootWrites is false: no distribution of Windows has wrappers that are known.
func onlyRootWrites(string) bool { return false }
