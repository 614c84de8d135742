//go:build !linux

package meeting

import "time"

// Dir fails: only Linux names a boot and a network namespace to every language.
func Dir() (string, error) { return "", ErrAlone }

// At fails too.
func At(string, ...string) (*Place, error) { return nil, ErrAlone }

// Seats is never asked for.
func Seats() int { return 0 }

func (c *Conn) put(string) error { return ErrAlone }

// Boot is never asked for.
func Boot() time.Duration { return 0 }
