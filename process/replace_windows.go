package process

import (
	"errors"
	"os"
	"os/exec"
)

// Replace runs the command with all that this process has, and exits as it does:
// Windows cannot replace a process. It returns only if the command cannot be started,
// with a *StartError.
func Replace(argv, env []string) error {
	if len(argv) == 0 || argv[0] == "" {
		return noCommand()
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err == nil || errors.As(err, &exit) {
		os.Exit(cmd.ProcessState.ExitCode())
	}
	return &StartError{Command: argv[0], ExitCode: shellExitCode(argv[0], err), Err: plain(err)}
}
