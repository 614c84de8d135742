//go:build unix

package process

import "syscall"

// Replace makes this process the command: it gets all that is ours, with env
// for its environment, and there is nothing of ours left around it. It returns
// only if the command cannot be started, with a *StartError.
func Replace(argv, env []string) error {
	if len(argv) == 0 || argv[0] == "" {
		return noCommand()
	}
	path, err := LookPath(argv[0])
	if err == nil {
		err = syscall.Exec(path, argv, env)
		if script := asScript(err, "", path, argv[1:]); script != nil {
			err = syscall.Exec(binSh, script, env)
		}
	}
	return &StartError{Command: argv[0], ExitCode: shellExitCode(argv[0], err), Err: plain(err)}
}
