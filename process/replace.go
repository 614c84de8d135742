package process

import "errors"

func noCommand() error {
	return &StartError{ExitCode: exitNotFound, Err: errors.New("no command is given")}
}

// Find says, without starting it, why a command cannot be found, as a
// *StartError; nil if it can.
func Find(name string) error {
	if name == "" {
		return noCommand()
	}
	if _, err := LookPath(name); err != nil {
		return &StartError{Command: name, ExitCode: shellExitCode(name, err), Err: plain(err)}
	}
	return nil
}
