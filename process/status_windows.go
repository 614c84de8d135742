package process

import "syscall"

// ShellStatus is the attempt's exit code. Windows has no signals.
func (e *Ended) ShellStatus() int {
	if e.Result.ExitCode != nil {
		return int(*e.Result.ExitCode)
	}
	return 1
}

func signalNumber(string) syscall.Signal { return 0 }
