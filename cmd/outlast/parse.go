package main

import (
	"context"

	"github.com/alecthomas/kong"

	"outlast/cmd/outlast/internal/config"
	"outlast/cmd/outlast/internal/library"
)

// parsed is a command line that has been read.
type parsed struct {
	*kong.Context
	settings *config.Resolver // of a verb that takes settings
	helped   bool             // --help was asked for, and has been printed
}

// parse reads a command line, as kong's Parse does, and runOf stands for its Run.
// Those find methods by a name that is known only when they run, such as "AfterApply",
// and in a program that does so the linker keeps every method of every type.
func parse(parser *kong.Kong, args []string) (*parsed, error) {
	ctx, err := kong.Trace(parser, args)
	if err == nil {
		err = ctx.Error
	}
	if err != nil {
		return nil, err
	}
	p := &parsed{Context: ctx}
	for _, at := range ctx.Path {
		if at.Flag != nil && at.Flag == parser.Model.HelpFlag {
			p.helped = true
			return p, ctx.PrintUsage(false)
		}
	}
	if err := ctx.Reset(); err != nil {
		return nil, err
	}
	if _, takes := p.verb().(interface{ takesSettings() }); takes {
		if p.settings, err = config.NewResolver(library.Names()); err != nil {
			return nil, err
		}
		ctx.AddResolver(p.settings)
	}
	if err := ctx.Resolve(); err != nil {
		return nil, err
	}
	if _, err := ctx.Apply(); err != nil {
		return nil, err
	}
	return p, ctx.Validate()
}

// verb is what the command line selects; nil if that is none.
func (p *parsed) verb() any {
	node := p.Selected()
	if node == nil {
		return nil
	}
	return node.Target.Addr().Interface()
}

// runOf is a verb's Run; nil if it has none of these forms.
func (p *parsed) runOf(verb any) func(context.Context, rawArgs) error {
	switch v := verb.(type) {
	case interface{ Run() error }:
		return func(context.Context, rawArgs) error { return v.Run() }
	case interface{ Run(context.Context) error }:
		return func(ctx context.Context, _ rawArgs) error { return v.Run(ctx) }
	case interface {
		Run(context.Context, rawArgs) error
	}:
		return v.Run
	case interface {
		Run(*kong.Kong, rawArgs) error
	}:
		return func(_ context.Context, raw rawArgs) error { return v.Run(p.Kong, raw) }
	case interface{ Run(*parsed) error }:
		return func(context.Context, rawArgs) error { return v.Run(p) }
	}
	return nil
}
