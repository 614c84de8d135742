package process

import "os"

const canCarry = false

// CarryOn does nothing: an attempt's end waits for who holds its output.
func (*Ended) CarryOn(_, _ *os.File) error { return nil }
