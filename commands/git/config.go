package git

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"time"

	"outlast/commands/internal/line"
	"outlast/internal/environ"
)

// listing bounds the time in which git lists its settings (a choice; it takes
// 2 ms).
const listing = 5 * time.Second

// runsMore says whether git's settings, or its environment, may have a fetch
// run a program that nobody knows, which could do anything at any server: what
// the options -c, --upload-pack and --template may, too. git itself is asked for
// its settings, since it finds them in six places, by includes and by conditions.
func runsMore(program string, global, env []string) bool {
	for _, name := range []string{"GIT_PROXY_COMMAND", "GIT_TEMPLATE_DIR", "GIT_EXEC_PATH"} {
		if environ.Get(env, name) != "" {
			return true
		}
	}
	if !isPlainSSH(environ.Get(env, "GIT_SSH_COMMAND")) || !isPlainSSH(environ.Get(env, "GIT_SSH")) {
		return true
	}
	ctx, cancel := context.WithTimeout(context.Background(), listing)
	defer cancel()
	list := exec.CommandContext(ctx, program, append(global[:len(global):len(global)], "config", "--null", "--list")...)
	list.Env = env
	settings, err := list.Output()
	var refused *exec.ExitError
	switch {
	case errors.Is(err, exec.ErrNotFound), errors.As(err, &refused) && refused.Exited():
		return false // nor can it fetch, from a directory or with a file that it refuses
	case err != nil:
		return true
	}
	for setting := range strings.SplitSeq(string(settings), "\x00") {
		key, value, _ := strings.Cut(setting, "\n")
		if settingRunsMore(key, value) {
			return true
		}
	}
	return false
}

// settingRunsMore says this of one setting; git has its section and name in
// lower case, and what stands between them as it is.
func settingRunsMore(key, value string) bool {
	section, rest, _ := strings.Cut(key, ".")
	name := rest[strings.LastIndexByte(rest, '.')+1:]
	switch section + "." + name {
	case "core.sshcommand":
		return !isPlainSSH(value)
	case "core.gitproxy", "core.hookspath", "init.templatedir", "remote.uploadpack", "remote.vcs":
		return value != ""
	case "fetch.recursesubmodules", "submodule.recurse":
		return value != "false" && value != "no" && value != "off" && value != "0"
	case "remote.url", "url.insteadof":
		return strings.Contains(key+value, "::") // transport::address runs a helper
	}
	return false
}

// isPlainSSH says whether a command for ssh is no more than ssh with options
// that run nothing else, or not given at all.
func isPlainSSH(command string) bool {
	words := strings.Fields(command)
	return len(words) == 0 || line.Base(words[0]) == "ssh" && !strings.ContainsAny(command, ";|&$`()<>\n\\") &&
		!strings.Contains(strings.ToLower(command), "command")
}
