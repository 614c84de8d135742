package main

import (
	"context"
	"fmt"
	"strings"

	"outlast/abi"
	"outlast/cmd/outlast/internal/exit"
	"outlast/cmd/outlast/internal/wrap"
	"outlast/plugin"
	"outlast/plugin/policy"
)

type versionVerb struct {
	wrap.PluginFlags
}

// Run shows the versions. The built-in plugin's are known without loading it.
func (v *versionVerb) Run(ctx context.Context) error {
	if v.Plugin != "" {
		return v.describe(ctx)
	}
	fmt.Fprintf(stdout, "outlast %s\nabi     %d.%d.%d\nplugin  sha256:%s\n",
		abi.Release, abi.Major, abi.Minor, abi.Patch, strings.TrimSpace(plugin.SHA256))
	for _, name := range policy.Names() {
		doc, err := policy.BuiltIn(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(stdout, "policy  %s %s\n", doc.Digest, name)
	}
	return nil
}

// describe asks a plugin file.
func (v *versionVerb) describe(ctx context.Context) error {
	p, err := v.OpenPlugin()
	if err != nil {
		return err
	}
	defer p.Close(ctx)
	d, err := p.Describe(ctx)
	if err != nil {
		return exit.Unusable(err)
	}
	fmt.Fprintf(stdout, "outlast %s\nplugin  %s (%s), %s\n", abi.Release, d.Version, d.Build, v.Plugin)
	for _, b := range d.Policies {
		fmt.Fprintf(stdout, "policy  %s %s\n", b.Digest, b.Name)
	}
	return nil
}
