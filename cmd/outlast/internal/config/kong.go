package config

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"
)

// Resolver gives kong the settings for flags that are not on the command line.
type Resolver struct {
	config *Config
	found  map[string]Found
}

var _ kong.Resolver = (*Resolver)(nil)

// NewResolver looks for the settings in this process's environment and in its
// user's files. policies are the names of the built-in policies. The error is
// an *Error.
func NewResolver(policies []string) (*Resolver, error) {
	c, err := Load(Options{Env: os.Environ(), Files: Files(os.Getenv), Policies: policies})
	return &Resolver{config: c, found: map[string]Found{}}, err
}

// Validate has nothing to check.
func (r *Resolver) Validate(*kong.Application) error { return nil }

// Resolve gives the flag's value, nil if there is none.
func (r *Resolver) Resolve(ctx *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	found, ok := r.config.Lookup(Command(ctx), flag.Name, func(name string) bool { return given(ctx, name) })
	if !ok {
		return nil, nil
	}
	r.found[flag.Name] = found
	return forFlag(flag, found.Value), nil
}

// Config is what was found.
func (r *Resolver) Config() *Config { return r.config }

// Origin says where a flag's value comes from. Where is the flag, the variable's
// name or file:line, and "" for a default.
func (r *Resolver) Origin(ctx *kong.Context, flag *kong.Flag) (source Source, where string) {
	if path := onCommandLine(ctx, flag.Name); path != nil {
		return FromFlag, "--" + flag.Name
	}
	if found, ok := r.found[flag.Name]; ok {
		return found.Source, found.Where
	}
	return FromDefault, ""
}

// forFlag is a value as kong takes it. What is false is as if it had not been
// given: then flags that exclude each other do not meet.
func forFlag(flag *kong.Flag, value []string) any {
	switch {
	case flag.IsBool() && value[0] == "false":
		return nil
	case flag.IsBool():
		return true
	case flag.Target.Kind() == reflect.Slice:
		var list []any
		for _, text := range value {
			list = append(list, text)
		}
		return list
	}
	return strings.Join(value, ",") // a list of exit codes
}

// Command is the base name of the command that is wrapped, "" if there is none.
func Command(ctx *kong.Context) string {
	for _, path := range ctx.Path {
		if path.Positional == nil || !path.Positional.Passthrough {
			continue
		}
		argv, _ := ctx.Value(path).Interface().([]string)
		if len(argv) > 0 && argv[0] == "--" {
			argv = argv[1:]
		}
		if len(argv) > 0 {
			return filepath.Base(argv[0])
		}
	}
	return ""
}

// given says whether a flag is on the command line, and not as false.
func given(ctx *kong.Context, name string) bool {
	path := onCommandLine(ctx, name)
	if path == nil {
		return false
	}
	value := ctx.Value(path)
	return value.Kind() != reflect.Bool || value.Bool()
}

func onCommandLine(ctx *kong.Context, name string) *kong.Path {
	for _, path := range ctx.Path {
		if path.Flag != nil && !path.Resolved && path.Flag.Name == name {
			return path
		}
	}
	return nil
}
