package omnigraph

// RepairArgv is the command that repairs the store of inv: its verified drift,
// or with force all of it. nil where there is no store that is opened directly.
// For a path it has to run under the store's lock; object storage has none.
func RepairArgv(inv Invocation, force bool) []string {
	if inv.Store == "" {
		return nil
	}
	argv := []string{inv.Command, "repair", "--store", inv.Store, "--confirm"}
	if force {
		argv = append(argv, "--force")
	}
	return append(argv, "--quiet")
}
