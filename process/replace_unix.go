//go:build unix

package process

import "syscall"

// Replace makes this process the command, which inherits all that the process had,
// with env for its environment. Nothing of outlast is left around it. It returns
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
