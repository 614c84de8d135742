package subprocess

import "errors"

func noCommand() error {
	return &StartError{ExitCode: exitNotFound, Err: errors.New("no command is given")}
}
