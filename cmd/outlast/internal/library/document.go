package library

import (
	"errors"
	"slices"

	"outlast/host"
	"outlast/plugin/policy"
)

// Document is a policy as the policy package has it.
func Document(p *host.Policy) (*policy.Document, error) {
	if slices.Contains(policy.Names(), p.Name()) {
		if doc, err := policy.BuiltIn(p.Name()); err == nil && doc.Digest == p.Digest() {
			return doc, nil
		}
	}
	doc, err := policy.Parse(p.Document())
	if err != nil {
		return nil, err
	}
	if doc.Digest != p.Digest() {
		return nil, errors.New("the policy's normal form is read as another policy")
	}
	return doc, nil
}
