// Package quit is about SIGQUIT, which Windows does not have.
package quit

// Quietly does nothing.
func Quietly() {}
