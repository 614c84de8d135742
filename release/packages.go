package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb" // registers itself
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

// packages makes Debian's and Red Hat's for each Linux.
func (r *release) packages() error {
	for _, t := range r.targets {
		if t.os != "linux" {
			continue
		}
		for _, format := range []string{"deb", "rpm"} {
			if err := r.pack(t, format); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *release) pack(t target, format string) error {
	installed, err := r.installed(t, format)
	if err != nil {
		return err
	}
	info := nfpm.WithDefaults(&nfpm.Info{
		Name: r.Package, Arch: t.arch, Platform: "linux", Version: r.version, Release: "1",
		Maintainer: r.Maintainer, Homepage: r.Homepage, Description: r.Summary + ".", License: "MIT",
		Section: "utils", Priority: "optional", MTime: r.when,
		Overridables: nfpm.Overridables{
			Contents: installed,
			RPM:      nfpm.RPM{BuildHost: "release", Summary: r.Summary, Packager: r.Maintainer},
		},
	})
	if err := nfpm.PrepareForPackager(info, format); err != nil {
		return err
	}
	packager, err := nfpm.Get(format)
	if err != nil {
		return err
	}
	out, err := os.Create(r.path("%s", packager.ConventionalFileName(info)))
	if err != nil {
		return err
	}
	defer out.Close()
	if err := packager.Package(info, out); err != nil {
		return err
	}
	return out.Close()
}

// installed are the files of a package, each where the system looks for it.
func (r *release) installed(t target, format string) (files.Contents, error) {
	zsh := "/usr/share/zsh/vendor-completions/_outlast" // Debian's way
	if format == "rpm" {
		zsh = "/usr/share/zsh/site-functions/_outlast"
	}
	places := map[string]string{
		manPage:     "/usr/share/man/man1/outlast.1.gz",
		bashWords:   "/usr/share/bash-completion/completions/outlast",
		zshWords:    zsh,
		fishWords:   "/usr/share/fish/vendor_completions.d/outlast.fish",
		licenceFile: "/usr/share/doc/" + r.Package + "/copyright",
	}
	contents := files.Contents{
		r.content(r.programs[t], "/usr/bin/outlast", 0o755),
		{Destination: "/usr/share/doc/" + r.Package, Type: files.TypeDir, FileInfo: &files.ContentFileInfo{Mode: 0o755, MTime: r.when, Owner: "root", Group: "root"}}, // its own: rpm leaves others behind
	}
	for _, f := range r.extra {
		text := f.content
		if strings.HasSuffix(places[f.path], ".gz") {
			var err error
			if text, err = gzipped(text); err != nil {
				return nil, err
			}
		}
		source := filepath.Join(r.work, filepath.Base(places[f.path])+".text")
		if err := os.WriteFile(source, text, 0o644); err != nil {
			return nil, err
		}
		contents = append(contents, r.content(source, places[f.path], f.mode))
	}
	return contents, nil
}

func (r *release) content(source, destination string, mode os.FileMode) *files.Content {
	return &files.Content{Source: source, Destination: destination, FileInfo: &files.ContentFileInfo{
		Mode: mode, MTime: r.when, Owner: "root", Group: "root",
	}}
}
