// Package pull is the one fetcher and verifier of policies that are followed: from a
// registry or over https into a folder, from which hosts read them.
package pull

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
)

// Source is where a policy is published.
type Source struct {
	text   string
	Digest string // that was asked for, "sha256:…"; "": a tag or a URL, whose content changes
	url    *url.URL
	tag    string // of an oci source; "": the digest
}

// String is the source as it was given.
func (s *Source) String() string { return s.text }

const (
	lower = "0123456789abcdefghijklmnopqrstuvwxyz._-"
	upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

// isDigest says whether a text is "sha256:" and 64 hexadecimal digits.
func isDigest(text string) bool {
	hex, is := strings.CutPrefix(text, "sha256:")
	return is && len(hex) == 64 && strings.Trim(hex, "0123456789abcdef") == ""
}

// isRepository and isTag look for what could be mistaken for something else in a URL;
// the rest of the distribution specification's rules is the registry's affair.
func isRepository(path string) bool {
	return len(path) > 1 && path[0] == '/' && strings.Trim(path, lower+"/") == "" && !strings.Contains(path, "//") && !strings.Contains(path, "..")
}

func isTag(text string) bool {
	return text != "" && len(text) <= 128 && strings.Trim(text, lower+upper) == "" && text[0] != '.' && text[0] != '-'
}

// ParseSource reads oci://HOST/REPOSITORY:TAG or https://HOST/PATH, either with
// @sha256:DIGEST behind it, which stands in a registry for the tag.
func ParseSource(text string) (*Source, error) {
	s := &Source{text: text}
	if i := strings.LastIndexByte(text, '@'); i > 0 && isDigest(text[i+1:]) {
		text, s.Digest = text[:i], text[i+1:]
	}
	var err error
	if s.url, err = url.Parse(text); err != nil {
		return nil, err
	}
	switch u := s.url; {
	case u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("expected a host and a path, without a user, a query or a fragment")
	case u.Scheme == "oci":
		return s, s.parseReference()
	case !isSafe(u):
		return nil, errors.New("expected oci:// or https:// (http:// is taken of this machine only)")
	}
	return s, nil
}

// parseReference takes the tag off, and finds how the registry is spoken to.
func (s *Source) parseReference() error {
	u := s.url
	if i := strings.LastIndexByte(u.Path, ':'); i > 0 {
		u.Path, s.tag = u.Path[:i], u.Path[i+1:]
	}
	switch {
	case !isRepository(u.Path):
		return fmt.Errorf("expected a repository, not %q", u.Path)
	case s.Digest == "" && !isTag(s.tag), s.tag != "" && s.Digest != "":
		return errors.New("expected either a tag or a digest behind the repository")
	}
	if isLocal(u) {
		u.Scheme = "http" // as other clients of registries have it
	} else {
		u.Scheme = "https"
	}
	return nil
}

func (s *Source) isRegistry() bool { return strings.HasPrefix(s.text, "oci:") }

// isSafe says whether what a URL answers comes unchanged from its host.
func isSafe(u *url.URL) bool { return u.Scheme == "https" || u.Scheme == "http" && isLocal(u) }

func isLocal(u *url.URL) bool {
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}
