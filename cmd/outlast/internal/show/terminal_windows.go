package show

import "os"

// A Windows console needs a mode of its own for the line; there log lines serve.
const drawsLines = false

func inForeground(*os.File) bool { return false }

func takesOutput(*os.File) bool { return false }

func (p *Printer) handleSignals() (end func()) { return func() {} }
