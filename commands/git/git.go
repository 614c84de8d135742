// Package git has what is known of git: its policy, and what its line tells.
package git

import (
	"strings"

	"outlast/commands/internal/line"
)

// Command is git.
var Command = line.Command{Parse: parse}

// before has what may stand before git's command; -c could set anything.
var before = line.Grammar{Equals: true, OptFirst: true,
	Alone:     `--no-pager --bare --no-replace-objects --literal-pathspecs --no-optional-locks`,
	WithValue: `-C --git-dir --work-tree --namespace`,
}

// readingOptions is the options of a command that only reads from its server, nil for
// another. --upload-pack and -c name programs, which could do anything.
func readingOptions(command string) *line.Grammar {
	switch command {
	case "ls-remote":
		return &line.Grammar{Equals: true,
			Alone:     `-q --quiet -h --heads -t --tags --branches --refs --symref --exit-code --get-url`,
			WithValue: `--sort`,
		}
	case "fetch":
		return &line.Grammar{Equals: true,
			Alone: `-q --quiet -v --verbose --progress --no-progress -4 --ipv4 -6 --ipv6 --all -a --append --atomic -f --force
			 -k --keep -p --prune -P --prune-tags -n --no-tags -t --tags --unshallow --update-shallow
			 --no-recurse-submodules --porcelain --dry-run --no-auto-gc --no-auto-maintenance --refetch`,
			WithValue: `--depth --deepen --shallow-since --shallow-exclude --refmap -j --jobs --filter`,
		}
	case "clone":
		return &line.Grammar{Equals: true,
			Alone: `-q --quiet -v --verbose --progress --no-progress -4 --ipv4 -6 --ipv6 --bare --mirror -n --no-checkout
			 --single-branch --no-single-branch --no-tags --sparse --no-shallow-submodules`,
			WithValue: `-b --branch -o --origin --depth --shallow-since --shallow-exclude -j --jobs --filter`,
		}
	}
	return nil
}

// parse: never Direct. A push may have several destinations and goes through hooks
// that print what they like; over ssh, so does the other side.
func parse(argv, env []string) line.Line {
	program, args := argv[0], argv[1:]
	_, operands, ok := before.Scan(args)
	if !ok || len(operands) == 0 {
		return line.Line{}
	}
	command := readingOptions(operands[0])
	if command == nil {
		return line.Line{}
	}
	global := args[:len(args)-len(operands)]
	_, operands, ok = command.Scan(operands[1:])
	// transport::address runs a helper, which may be any program.
	return line.Line{Read: ok && !strings.Contains(strings.Join(operands, " "), "::") && !runsMore(program, global, env)}
}
