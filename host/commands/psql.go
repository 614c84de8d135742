package commands

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// psqlGrammar has the options of psql 14 to 17 but for those of a session with
// a person: -s, -S and -W.
var psqlGrammar = grammar{equals: true, flags: flags{
	`-1 --single-transaction -A --no-align -a --echo-all -b --echo-errors -e --echo-queries -E --echo-hidden
	 -H --html --csv -l --list -n --no-readline -q --quiet -t --tuples-only -w --no-password
	 -X --no-psqlrc -x --expanded -z --field-separator-zero -0 --record-separator-zero`,
	`-c --command -f --file -d --dbname -h --host -p --port -U --username -v --set --variable
	 -F --field-separator -R --record-separator -P --pset -T --table-attr -o --output -L --log-file`}}

var psqlFiles names = `-o --output -L --log-file`

// psql: never surely a read, for a SELECT may call anything. It is Direct if all
// that it runs is SQL. A backslash could start a command of psql that prints
// what it likes to stderr (\warn), runs a program (\!) or connects again (\c),
// and so could a variable's value.
func psql(args []string, env map[string]string) Line {
	options, operands, ok := psqlGrammar.scan(args)
	if !ok || strings.Contains(strings.Join(operands, ""), `\`) {
		return Line{}
	}
	given, rc := false, true
	for _, o := range options {
		switch {
		case strings.Contains(o.value, `\`):
			return Line{}
		case o.name == "-X" || o.name == "--no-psqlrc":
			rc = false
		case psqlFiles.has(o.name) && (strings.HasPrefix(o.value, "|") || isDevice(o.value)):
			return Line{} // a program, or stderr itself
		case o.name == "-f" || o.name == "--file":
			if !isPlainSQL(o.value) {
				return Line{}
			}
			given = true
		case o.name == "-c" || o.name == "--command" || o.name == "-l" || o.name == "--list":
			given = true
		}
	}
	if !given || rc && psqlReadsRC(env) {
		return Line{}
	}
	return Line{Direct: true, unsent: psqlUnsent}
}

// psqlUnsent: the first connection failed. "connection to server was lost" has
// the same start, and is what psql says of a later one.
func psqlUnsent(exit int64, stderr string) bool {
	return exit == 2 && startsWithAny(stderr, "psql: error: connection to server at ",
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

// psqlReadsRC says whether there may be a psqlrc.
func psqlReadsRC(env map[string]string) bool {
	prefixes, known := psqlConfigs(env)
	return !known || anyBegins(prefixes)
}

// psqlConfigs are how the paths begin of the files that psql may run once it is
// connected: the system's, and that of PSQLRC or else of the user's home, each
// with or without "-" and psql's version behind. Of PSQLRC only that it means no
// file is known.
func psqlConfigs(env map[string]string) (prefixes []string, known bool) {
	for _, dir := range psqlSystem {
		prefixes = append(prefixes, filepath.Join(dir, "psqlrc"))
	}
	if rc := env["PSQLRC"]; rc != "" {
		return prefixes, rc == "/dev/null"
	}
	dirs, known := homes(env)
	for _, dir := range dirs {
		prefixes = append(prefixes, filepath.Join(dir, ".psqlrc"))
	}
	return prefixes, known
}

// psqlSystem are the directories of the system's psqlrc (pg_config --sysconfdir):
// Debian's, the default of a prefix /usr, Red Hat's, and those of common
// prefixes, Homebrew's among them.
var psqlSystem = []string{
	"/etc/postgresql-common", "/etc/postgresql", "/etc", "/etc/sysconfig/pgsql", "/usr/etc/postgresql", "/usr/etc",
	"/usr/local/etc/postgresql", "/usr/local/etc", "/usr/local/pgsql/etc", "/opt/homebrew/etc/postgresql",
}
