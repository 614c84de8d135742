package policyflags

// signalName is "": no process on Windows is ended by a signal.
func signalName(int) string { return "" }
