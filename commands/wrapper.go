package commands

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"outlast/commands/internal/line"
)

// packaged are the wrappers that a distribution's package lays, each with the
// commands that it stands for and a line that it has.
var packaged = []struct {
	path, text string
	commands   line.Names
}{
	// Debian and Ubuntu, postgresql-client-common: it chooses a cluster and a
	// version, and runs that version's program in its own place.
	{"/usr/share/postgresql-common/pg_wrapper", "# Call a PostgreSQL client program with the version, cluster and default\n", "psql"},
}

// isPackaged says whether the file is a distribution's wrapper for the command:
// where the package lays it, and of nobody's but root's making.
func isPackaged(real string, head []byte, name string) bool {
	for _, p := range packaged {
		if real == p.path && p.commands.Has(name) && strings.Contains(string(head), p.text) && onlyRootWrites(real) {
			return true
		}
	}
	return false
}

// isManager says whether a version manager's program is called as the command:
// mise's shims are links to mise itself, which runs the tool of its own name in
// its own place.
func isManager(real, path, name string) bool {
	return line.Base(path) == name && slices.Contains([]string{"mise", "rtx"}, line.Base(real))
}

// shims are the scripts that version managers write, all of each. They run the
// program of the shim's own name, which the manager has installed, in their own
// place.
var shims = sync.OnceValue(func() []*regexp.Regexp {
	return []*regexp.Regexp{
		// asdf before 0.16, and from then on: # asdf-plugin: kubectl 1.31.0
		regexp.MustCompile(`^#!/usr/bin/env bash\n(?:# asdf-plugin: [^\n]*\n)+exec (?:"?/[\w./@+-]+/)?asdf"? exec "(?P<name>[\w.-]+)" "\$@"(?: # asdf_allow: [^\n]*)?\n*$`),
		// pyenv, rbenv, nodenv and their like.
		regexp.MustCompile(`^#!/usr/bin/env bash\nset -e\n\[ -n "\$\w+_DEBUG" \] && set -x\n\nprogram="\$\{0##\*/\}"\n` +
			`\nexport \w+_ROOT="/[\w./@+-]+"\n` +
			`(?:SHIM_PATH=\$\{0%/\*\}\nif \[\[ \$SHIM_PATH != "/[\w./@+-]+" \]\]; then\n  export \w+="\$SHIM_PATH"\nfi\n)?` +
			`exec "/[\w./@+-]+/libexec/(?:pyenv|rbenv|nodenv|goenv)" exec "\$program" "\$@"\n*$`),
	}
})

// isShim says whether a script is a version manager's shim for the command.
func isShim(head []byte, path, name string) bool {
	if line.Base(path) != name || len(head) == maxHead {
		return false
	}
	for _, shim := range shims() {
		if found := shim.FindSubmatch(head); found != nil {
			i := shim.SubexpIndex("name")
			return i < 0 || string(found[i]) == name
		}
	}
	return false
}

// execScript is a script that does nothing but become another program.
type execScript struct {
	program string
	env     []string
}

// execLines are the lines that an execScript may have.
var execLines = sync.OnceValue(func() (l struct{ shell, nothing, set, exec *regexp.Regexp }) {
	l.shell = regexp.MustCompile(`^#! ?/(?:[\w.+-]+/)*(?:env )?(?:sh|bash|dash|ksh|ash)(?: -[eu]+)?$`)
	l.nothing = regexp.MustCompile(`^\s*(?:#.*|set -[eu]+)?$`)
	l.set = regexp.MustCompile(`^(?:export )?([A-Za-z_]\w*)=(?:'([^']*)'|"([^"$\x60\\]*)"|([\w./:@%+,-]*))$`)
	l.exec = regexp.MustCompile(`^exec +(?:-a "\$0" +)?(?:"(/[\w./@+-]+)"|(/[\w./@+-]+)) +"\$@"$`)
	return l
})

// readExec reads a shell script that sets variables to plain values and then
// becomes a program, with just the arguments that it got, such as
//
//	#!/bin/sh
//	export KUBECONFIG=/etc/kube/admin.conf
//	exec /usr/bin/kubectl "$@"
//
// ok is false for any other.
func readExec(head []byte) (script execScript, ok bool) {
	if len(head) == maxHead {
		return script, false // there may be more of it
	}
	first, rest, _ := strings.Cut(strings.TrimRight(string(head), "\n"), "\n")
	lines := execLines()
	if !lines.shell.MatchString(first) {
		return script, false
	}
	for line := range strings.SplitSeq(rest, "\n") {
		if script.program != "" {
			return script, false // never reached, but then why is it there?
		}
		if found := lines.exec.FindStringSubmatch(line); found != nil {
			script.program = filepath.Clean(found[1] + found[2])
		} else if found := lines.set.FindStringSubmatch(line); found != nil {
			script.env = append(script.env, found[1]+"="+found[2]+found[3]+found[4])
		} else if !lines.nothing.MatchString(line) {
			return script, false
		}
	}
	return script, script.program != ""
}
