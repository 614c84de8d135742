// Package library has the policies that come with the tool, by their names, and
// reads those that do not from files.
package library

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"outlast/cmd/outlast/internal/exit"
	"outlast/cmd/outlast/internal/policyflags"
	"outlast/commands"
	"outlast/commands/omnigraph"
	"outlast/followed"
	"outlast/host"
	"outlast/plugin/policy"
)

// Names are all policies that can be named: those built into the plugin, the
// default one first, and the bundled ones.
func Names() []string { return append(policy.Names(), commands.Names()...) }

// IsBundled says whether a policy comes with the tool and not with the plugin.
func IsBundled(name string) bool { return commands.Policy(name) != "" }

// Source is the text of a named policy as its author wrote it, "" if there is
// none of that name.
func Source(name string) string {
	if text := policy.Source(name); text != "" {
		return text
	}
	return commands.Policy(name)
}

// For is the policy that is chosen for a command, "" if none is. It has the name
// of the command.
func For(argv0 string) string {
	if omnigraph.Is(argv0) {
		return "omnigraph"
	}
	return commands.For(argv0)
}

// Load is a policy by its name, or one from a file. The error is an *exit.Error.
func Load(nameOrFile string) (*host.Policy, error) {
	if slices.Contains(policy.Names(), nameOrFile) {
		return host.BuiltIn(nameOrFile)
	}
	if text := commands.Policy(nameOrFile); text != "" {
		return host.ParsePolicy(text)
	}
	if _, err := os.Stat(nameOrFile); os.IsNotExist(err) {
		return nil, exit.Unusable(fmt.Errorf("policy %s: there is no such file, and no policy of that name (%s)",
			nameOrFile, strings.Join(Names(), ", ")))
	}
	p, err := readFile(nameOrFile)
	if err != nil {
		return nil, exit.Unusable(err)
	}
	return p, nil
}

// readFile reads a document, or the one in an envelope or in a file of a folder that
// policy pull keeps.
func readFile(path string) (*host.Policy, error) {
	p, err := host.ReadPolicy(path)
	if err == nil {
		return p, nil
	}
	text, other := os.ReadFile(path)
	document := followed.Document(string(text))
	if other != nil || document == string(text) {
		return nil, err
	}
	return host.ParsePolicy(document)
}

// LoadFollowed is Load for a name that a folder may have a policy for, as policy pull
// keeps it. why says why the folder's is not the one; nil: it is. dir "" is no folder.
func LoadFollowed(dir, nameOrFile string) (p *host.Policy, why, err error) {
	if dir != "" && !strings.ContainsAny(nameOrFile, `./\`) {
		if p, why = host.ReadFollowed(dir, nameOrFile); why == nil {
			return p, nil, nil
		}
	}
	p, err = Load(nameOrFile)
	if err != nil && why != nil {
		err = exit.Unusable(fmt.Errorf("%w; and none of that name in the folder: %w", err, why))
	}
	return p, why, err
}

// Adjusted is the policy with another window and another spread, where they are
// given.
func Adjusted(p *host.Policy, maxWait, spread *time.Duration) (_ *host.Policy, err error) {
	if maxWait != nil {
		if *maxWait < time.Microsecond {
			return nil, exit.Usage("--max-wait: expected a positive duration such as 150s, not %v", *maxWait)
		}
		if p, err = p.WithMaxWait(*maxWait); err != nil {
			return nil, exit.Unusable(err)
		}
	}
	if err := CheckSpread(spread); err != nil || spread == nil {
		return p, err
	}
	if p, err = p.WithSpread(*spread); err != nil {
		return nil, exit.Unusable(err)
	}
	return p, nil
}

// CheckSpread says what is wrong with --spread, if it is given.
func CheckSpread(d *time.Duration) error {
	if d == nil || *d >= time.Microsecond && *d <= policyflags.MaxSpread {
		return nil
	}
	return exit.Usage("--spread: expected a positive duration up to %v, such as 5s, not %v", policyflags.MaxSpread, *d)
}
