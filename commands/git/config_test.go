package git

import (
	"os/exec"
	"path/filepath"
	"testing"

	"outlast/commands/internal/linetest"
)

// Wherever git finds a setting that makes a fetch run a program, and by whatever
// include, the fetch is no read that is known.
func TestGitSettings(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	home, xdg, repo, elsewhere := t.TempDir(), t.TempDir(), t.TempDir(), t.TempDir()
	if out, err := exec.Command("git", "init", "-q", repo).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Chdir(repo)
	env := []string{"HOME=" + home, "XDG_CONFIG_HOME=" + xdg, "GIT_CONFIG_NOSYSTEM=1"}
	reads := func(more ...string) bool {
		return Command.Parse([]string{"git", "fetch", "origin"}, append(env[:len(env):len(env)], more...)).Read
	}
	if !reads() {
		t.Fatal("without settings a fetch is no read")
	}
	for text, want := range map[string]bool{
		"[user]\nname = x\n[credential]\nhelper = store\n":                               true,
		"[core]\nsshCommand = ssh -i ~/.ssh/key -o IdentitiesOnly=yes\n":                 true,
		"[core]\nsshCommand = ssh -o ProxyCommand=x\n":                                   false,
		"[core]\nsshCommand = \"ssh x; date\"\n":                                         false,
		"[core]\nsshCommand = my-ssh\n":                                                  false,
		"[core]\ngitProxy = x\n":                                                         false,
		"[core]\nhooksPath = x\n":                                                        false,
		"[remote \"origin\"]\nuploadpack = x\n":                                          false,
		"[remote \"origin\"]\nurl = ext::sh -c date\n":                                   false,
		"[remote \"a.b\"]\nvcs = x\n":                                                    false,
		"[url \"ext::sh -c date \"]\ninsteadOf = http://h/\n":                            false,
		"[url \"https://h/\"]\ninsteadOf = h:\n":                                         true,
		"[fetch]\nrecurseSubmodules = true\n":                                            false,
		"[fetch]\nrecurseSubmodules = false\n":                                           true,
		"[alias]\nfetch = !date\n":                                                       true, // git takes none for a command of its own
		"[include]\npath = " + filepath.ToSlash(elsewhere) + "/nothing\n":                true,
		"[include]\npath = " + filepath.ToSlash(elsewhere) + "/proxied\n":                false,
		"[includeIf \"gitdir:/\"]\npath = " + filepath.ToSlash(elsewhere) + "/proxied\n": false,
	} {
		linetest.Write(t, elsewhere+"/proxied", "[core]\ngitProxy = x\n", 0o600)
		for _, file := range []string{home + "/.gitconfig", xdg + "/git/config", elsewhere + "/global", elsewhere + "/system"} {
			linetest.Write(t, file, text, 0o600)
			more := map[string][]string{
				elsewhere + "/global": {"GIT_CONFIG_GLOBAL=" + file},
				elsewhere + "/system": {"GIT_CONFIG_SYSTEM=" + file, "GIT_CONFIG_NOSYSTEM=0"},
			}[file]
			if got := reads(more...); got != want {
				t.Errorf("%s in %s: %t", text, file, got)
			}
			linetest.Write(t, file, "", 0o600)
		}
	}
	for variable, want := range map[string]bool{
		"GIT_SSH_COMMAND=ssh -v": true, "GIT_SSH_COMMAND=sh -c ssh": false, "GIT_SSH=/usr/bin/ssh": true, "GIT_SSH=x": false,
		"GIT_PROXY_COMMAND=x": false, "GIT_EXEC_PATH=x": false, "GIT_TEMPLATE_DIR=x": false, "GIT_TRACE=0": true,
	} {
		if got := reads(variable); got != want {
			t.Errorf("%s: %t", variable, got)
		}
	}
	if got := reads("GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.gitProxy", "GIT_CONFIG_VALUE_0=x"); got {
		t.Error("a setting in the environment is not seen")
	}
}
