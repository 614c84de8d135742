// Package psql has what is known of psql: its policy, and what its line tells.
package psql

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"

	"outlast/commands/internal/line"
	"outlast/internal/environ"
)

// Command is psql.
var Command = line.Command{Parse: parse, Words: "PostgreSQL interactive terminal"}

// grammar has the options of psql 14 to 17 but for those of a session with
// a person: -s, -S and -W.
var grammar = line.Grammar{Equals: true,
	Alone: `-1 --single-transaction -A --no-align -a --echo-all -b --echo-errors -e --echo-queries -E --echo-hidden
	 -H --html --csv -l --list -n --no-readline -q --quiet -t --tuples-only -w --no-password
	 -X --no-psqlrc -x --expanded -z --field-separator-zero -0 --record-separator-zero`,
	WithValue: `-c --command -f --file -d --dbname -h --host -p --port -U --username -v --set --variable
	 -F --field-separator -R --record-separator -P --pset -T --table-attr -o --output -L --log-file`,
}

var fileOptions line.Names = `-o --output -L --log-file`

// parse: never surely a read, for a SELECT may call anything. It is Direct if all
// that it runs is SQL. A backslash could start a command of psql that prints
// what it likes to stderr (\warn), runs a program (\!) or connects again (\c),
// and so could a variable's value.
func parse(argv, env []string) line.Line {
	options, operands, ok := grammar.Scan(argv[1:])
	if !ok || strings.Contains(strings.Join(operands, ""), `\`) {
		return line.Line{}
	}
	given, rc := false, true
	for _, o := range options {
		switch {
		case strings.Contains(o.Value, `\`):
			return line.Line{}
		case o.Name == "-X" || o.Name == "--no-psqlrc":
			rc = false
		case fileOptions.Has(o.Name) && (strings.HasPrefix(o.Value, "|") || line.IsDevice(o.Value)):
			return line.Line{} // a program, or stderr itself
		case o.Name == "-f" || o.Name == "--file":
			if !isPlainSQL(o.Value) {
				return line.Line{}
			}
			given = true
		case o.Name == "-c" || o.Name == "--command" || o.Name == "-l" || o.Name == "--list":
			given = true
		}
	}
	if !given || rc && readsRC(env) {
		return line.Line{}
	}
	return line.Line{Direct: true, Unsent: unsent}
}

// unsent: the first connection failed. "connection to server was lost" has
// the same start, and is what psql says of a later one.
func unsent(exit int64, stderr string) bool {
	return exit == 2 && line.StartsWithAny(stderr, "psql: error: connection to server at ",
		"psql: error: connection to server on socket ", "psql: error: could not translate host name ")
}

// maxScript bounds the script that is looked into (a choice: it is read before
// the command starts).
const maxScript = 16 << 20

// isPlainSQL says whether a script is a file that has no backslash.
func isPlainSQL(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxScript {
		return false
	}
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxScript+1))
	return err == nil && len(text) <= maxScript && bytes.IndexByte(text, '\\') < 0
}

// readsRC says whether there may be a psqlrc.
func readsRC(env []string) bool {
	prefixes, known := configs(env)
	return !known || line.AnyBegins(prefixes)
}

// configs are how the paths begin of the files that psql may run once it is
// connected: the system's, and that of PSQLRC or else of the user's home, each
// with or without "-" and psql's version behind. Of PSQLRC only that it means no
// file is known.
func configs(env []string) (prefixes []string, known bool) {
	for _, dir := range systemDirs {
		prefixes = append(prefixes, filepath.Join(dir, "psqlrc"))
	}
	if rc := environ.Get(env, "PSQLRC"); rc != "" {
		return prefixes, rc == "/dev/null"
	}
	dirs, known := line.Homes(env)
	for _, dir := range dirs {
		prefixes = append(prefixes, filepath.Join(dir, ".psqlrc"))
	}
	return prefixes, known
}

// systemDirs are the directories of the system's psqlrc (pg_config --sysconfdir):
// Debian's, the default of a prefix /usr, Red Hat's, and those of common
// prefixes, Homebrew's among them.
var systemDirs = []string{
	"/etc/postgresql-common", "/etc/postgresql", "/etc", "/etc/sysconfig/pgsql", "/usr/etc/postgresql", "/usr/etc",
	"/usr/local/etc/postgresql", "/usr/local/etc", "/usr/local/pgsql/etc", "/opt/homebrew/etc/postgresql",
}
