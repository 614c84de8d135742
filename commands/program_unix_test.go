//go:build unix

package commands

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"outlast/commands/internal/linetest"
	"outlast/internal/environ"
)

// real is an installed command's file, of the system's own format.
func real(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed", name)
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		t.Fatal(err)
	}
	if filepath.Base(path) == "pg_wrapper" {
		found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/psql")
		if len(found) == 0 {
			t.Skip("Debian's psql is not installed beside its wrapper")
		}
		path = found[0]
	}
	return path
}

// programs makes files that are called as a command.
type programs struct {
	t         *testing.T
	dir, name string
}

func (p programs) made(dir string, make func(path string) error) string {
	p.t.Helper()
	path := filepath.Join(p.dir, dir, p.name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := make(path); err != nil {
		p.t.Fatal(err)
	}
	return path
}

func (p programs) file(dir, text string) string {
	return p.made(dir, func(path string) error { return os.WriteFile(path, []byte(text), 0o700) })
}

// renamed is a file of another name.
func (p programs) renamed(text, name string) string {
	path := filepath.Join(p.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		p.t.Fatal(err)
	}
	return path
}

func (p programs) link(dir, target string) string {
	return p.made(dir, func(path string) error { return os.Symlink(target, path) })
}

func (p programs) is(what, path string, want bool, wrappers ...string) {
	p.t.Helper()
	if _, ok := (Program{Path: path, Wrappers: wrappers}).Is(p.name); ok != want {
		p.t.Errorf("%s: %t", what, ok)
	}
}

// A program is a command by what its file is, not by its name.
func TestProgramsThatAreTheCommand(t *testing.T) {
	for _, name := range []string{"curl", "psql", "redis-cli", "kubectl", "ssh", "git"} {
		t.Run(name, func(t *testing.T) {
			there := real(t, name)
			p := programs{t, t.TempDir(), name}
			binary, err := os.ReadFile(there)
			if err != nil {
				t.Fatal(err)
			}
			copied := p.file("copy", string(binary))
			link := p.link("link", there)
			p.is("the real one", there, true)
			p.is("a copy", copied, true)
			p.is("a link", link, true)
			p.is("a link to a link", p.link("links", link), true)
			p.is("a link to a copy of another name", p.link("other", p.renamed(string(binary), "x-"+name)), name != "kubectl" && name != "ssh" && name != "git")
			if err := os.Rename(copied, copied+"-8.5"); err != nil {
				t.Fatal(err)
			}
			p.is("a link to another version", p.link("version", copied+"-8.5"), true)
			p.is("nothing", filepath.Join(p.dir, "none", name), false)
			p.is("a directory", p.dir, false)
			p.is("a link to another program", p.link("sleep", real(t, "sleep")), false)
		})
	}
}

// A script is the command if it becomes it, with just what it got; else only if
// the user says so.
func TestScriptsThatAreTheCommand(t *testing.T) {
	for _, name := range []string{"curl", "psql", "kubectl", "git"} {
		t.Run(name, func(t *testing.T) {
			there := real(t, name)
			p := programs{t, t.TempDir(), name}
			one, two := "exec "+there+" \"$@\"\n", there+" \"$@\"\n"
			plain := p.file("plain", "#!/bin/sh\n# ours\nset -e\n\nexport A=b\nC='d e'\n"+one)
			p.is("a script that becomes it", plain, true)
			p.is("a script that becomes such a script", p.file("again", "#!/usr/bin/env bash\nexec \""+plain+"\" \"$@\"\n"), true)
			for what, text := range map[string]string{
				"calls it":                       two,
				"calls it twice":                 two + two,
				"calls it, and becomes it":       two + one,
				"becomes it with more":           "exec " + there + " -v \"$@\"\n",
				"becomes it with less":           "exec " + there + " \"$1\"\n",
				"goes on":                        one + two,
				"runs something in a value":      "A=$(date)\n" + one,
				"runs something in an old value": "A=`date`\n" + one,
				"runs something beside a value":  "A=b date\n" + one,
				"runs something behind a value":  "A=b; date\n" + one,
				"becomes it in the background":   "exec " + there + " \"$@\" &\n",
				"becomes it behind something":    "date; " + one,
				"becomes what PATH says":         "exec " + name + " \"$@\"\n",
				"becomes what a variable says":   "exec $X \"$@\"\n",
				"does nothing":                   "",
				"has a here document":            "cat <<X\n" + one + "X\n" + two,
				"becomes itself":                 "exec " + p.dir + "/script/" + name + " \"$@\"\n",
				"becomes something else":         "exec " + p.dir + "/none \"$@\"\n",
				"is long":                        strings.Repeat("# x\n", maxHead/4) + one,
				"has a NUL":                      "\x00" + one,
			} {
				path := p.file("script", "#!/bin/sh\n"+text)
				p.is("a script that "+what, path, false)
				p.is("a declared script that "+what, path, true, path)
				p.is("a script that "+what+", where others are declared", path, false, there, p.dir, p.dir+"/none")
			}
			p.is("another language's script", p.file("perl", "#!/usr/bin/perl\n"+one), false)
			p.is("a script for a shell with options", p.file("option", "#!/bin/sh -i\n"+one), false)
			p.is("a script for nobody", p.file("nobody", one), false)
			if _, ok := (Program{Path: plain, Env: []string{"BASH_ENV=x"}}).Is(name); ok {
				t.Error("bash reads another file first")
			}
		})
	}
}

// What a wrapper sets is what the command's settings are looked for with.
func TestWrappersSetVariables(t *testing.T) {
	dir := t.TempDir()
	linetest.Write(t, dir+"/curl", "#!/bin/sh\nexport CURL_HOME="+dir+"/x\nHOME=\"/a b\"\nexec "+real(t, "curl")+" \"$@\"\n", 0o700)
	env, ok := Program{Path: dir + "/curl", Env: []string{"HOME=/h"}}.Is("curl")
	if !ok || environ.Get(env, "CURL_HOME") != dir+"/x" || environ.Get(env, "HOME") != "/a b" {
		t.Errorf("%t, %q", ok, env)
	}
	linetest.AccountAt(t, "", true)
	read := func() Line { return Parse([]string{"curl", "-d", "a", "http://h/"}, env) }
	if !read().Direct {
		t.Error("no settings")
	}
	linetest.Write(t, dir+"/x/.curlrc", "location\n", 0o600)
	if read().Direct {
		t.Error("the wrapper's settings are not seen")
	}
}

// A compiled program that has none of the command's words is not the command.
func TestCompiledImposters(t *testing.T) {
	other, err := os.ReadFile(real(t, "sleep"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"curl", "psql", "redis-cli"} {
		p := programs{t, t.TempDir(), name}
		p.is("sleep under its name", p.file("", string(other)), false)
		p.is("a declared one", p.file("", string(other)), true, filepath.Join(p.dir, name))
		for _, before := range []int{0, 1, 256 << 10, 256<<10 - 3, 1 << 20} { // across the parts in which it is read
			p.is("one with its words", p.file("", "\x7fELF"+strings.Repeat("x", before)+known[name].Words), true)
		}
	}
}

// Debian's wrapper is known where Debian lays it, and nowhere else.
func TestDebiansWrapper(t *testing.T) {
	const wrapper = "/usr/share/postgresql-common/pg_wrapper"
	text, err := os.ReadFile(wrapper)
	if err != nil {
		t.Skip("postgresql-client-common is not installed")
	}
	p := programs{t, t.TempDir(), "psql"}
	p.is("Debian's psql", "/usr/bin/psql", true)
	p.is("a link to it", p.link("link", "/usr/bin/psql"), true)
	p.is("a copy, which anybody may have changed", p.file("copy", string(text)), false)
	if _, ok := (Program{Path: wrapper}).Is("curl"); ok {
		t.Error("it stands for curl")
	}
}

// The version managers' shims, as each writes them.
func TestShims(t *testing.T) {
	asdf := "#!/usr/bin/env bash\n# asdf-plugin: NAME 1.2.3\nexec /home/u/.asdf/bin/asdf exec \"NAME\" \"$@\" # asdf_allow: ' asdf '\n"
	asdf16 := "#!/usr/bin/env bash\n# asdf-plugin: NAME 1.2.3\n# asdf-plugin: NAME 1.3\nexec asdf exec \"NAME\" \"$@\"\n"
	pyenv := "#!/usr/bin/env bash\nset -e\n[ -n \"$PYENV_DEBUG\" ] && set -x\n\nprogram=\"${0##*/}\"\n\nexport PYENV_ROOT=\"/home/u/.pyenv\"\nexec \"/home/u/.pyenv/libexec/pyenv\" exec \"$program\" \"$@\"\n"
	rbenv := strings.NewReplacer("pyenv", "rbenv", "PYENV", "RBENV").Replace(pyenv)
	newer := strings.Replace(pyenv, "exec \"", "SHIM_PATH=${0%/*}\nif [[ $SHIM_PATH != \"/home/u/.pyenv/shims\" ]]; then\n  export _PYENV_SHIM_PATH=\"$SHIM_PATH\"\nfi\nexec \"", 1)
	for _, name := range []string{"kubectl", "redis-cli", "curl"} {
		p := programs{t, t.TempDir(), name}
		for text, want := range map[string]bool{
			asdf: true, asdf16: true, pyenv: true, rbenv: true, newer: true,
			asdf + "curl -d x http://h/\n":                              false,
			strings.Replace(asdf, "exec \"NAME\"", "exec \"other\"", 1): false,
			strings.Replace(asdf, "exec /home", "date\nexec /home", 1):  false,
			strings.Replace(pyenv, "set -e\n", "set -e\ndate\n", 1):     false,
			strings.Replace(newer, "fi\n", "date\nfi\n", 1):             false,
			pyenv + "date\n": false,
		} {
			p.is(text, p.file("", strings.ReplaceAll(text, "NAME", name)), want)
		}
	}
	p := programs{t, t.TempDir(), "kubectl"}
	linetest.Write(t, p.dir+"/bin/mise", "\x7fELF and so on", 0o700)
	linetest.Write(t, p.dir+"/bin/other", "\x7fELF and so on", 0o700)
	p.is("mise's", p.link("shims", "../bin/mise"), true)
	p.is("another's", p.link("others", "../bin/other"), false)
}
