package wasmfile

import "testing"

// TestWASIHasWhatGoImports names what Go's runtime imported when this was
// written; the list may grow, none of these may go.
func TestWASIHasWhatGoImports(t *testing.T) {
	for _, name := range []string{
		"args_get", "args_sizes_get", "clock_time_get", "environ_get", "environ_sizes_get", "fd_close",
		"fd_fdstat_get", "fd_fdstat_set_flags", "fd_prestat_dir_name", "fd_prestat_get", "fd_read", "fd_write",
		"poll_oneoff", "proc_exit", "random_get", "sched_yield",
	} {
		if wasi[name] == "" {
			t.Errorf("%s is missing", name)
		}
	}
}
