package pull

import (
	"fmt"
	"os"
	"time"

	"aead.dev/minisign"

	"outlast/cmd/outlast/internal/difference"
	"outlast/cmd/outlast/internal/library"
	"outlast/followed"
	"outlast/plugin/policy"
)

// ReadKey reads a public key of minisign's: the key itself, or its file.
func ReadKey(keyOrFile string) (*minisign.PublicKey, error) {
	text := keyOrFile
	if content, err := os.ReadFile(keyOrFile); err == nil {
		text = string(content)
	}
	key := &minisign.PublicKey{}
	if err := key.UnmarshalText([]byte(text)); err != nil {
		return nil, fmt.Errorf("expected a public key of minisign's, or its file, not %q", keyOrFile)
	}
	return key, nil
}

// judge takes a policy that is published, or refuses it with all that is wrong with
// it. now is the time of the day, and before what is in the folder under the same
// name; nil: nothing that can be read.
func (p *Puller) judge(got *Published, now time.Time, before func(name string) *followed.Release) (*followed.Release, error) {
	r := &followed.Release{File: followed.File{Text: string(got.Text), Digest: followed.Digest(got.Text), Source: p.Source.String(), Pulled: now}}
	var faults []string
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	switch {
	case p.Key == nil && p.Source.Digest == "":
		fault("nothing says whose it is: it needs a key, or a digest")
	case p.Key != nil:
		r.Signature, r.Key = got.Signature, p.Key.String()
		switch {
		case got.Signature == "":
			fault("it is not signed")
		case !minisign.Verify(*p.Key, got.Text, []byte(got.Signature)):
			fault("the signature is not that of key %s over this text: it was altered, or signed by another", keyID(p.Key))
		}
	}
	e, err := followed.ParseEnvelope(r.Text)
	if err != nil {
		for _, f := range followed.Faults(err) {
			fault("%s", f)
		}
		return nil, &Refused{faults}
	}
	r.Envelope = *e
	if !e.Expires.IsZero() && !now.Before(e.Expires) {
		fault("it has expired, at %s", e.Expires.Format(time.RFC3339))
	}
	held := before(e.Name)
	if held != nil && e.Serial <= held.Serial && r.Digest != held.Digest {
		fault("serial %d is not above %d, which is in force: to go back, publish the old content under a higher serial", e.Serial, held.Serial)
	}
	if !p.Rules && p.Source.Digest == "" {
		faults = append(faults, licensed(e, held)...)
	}
	if len(faults) > 0 {
		return nil, &Refused{faults}
	}
	return r, nil
}

// keyID is how minisign shows a key.
func keyID(key *minisign.PublicKey) string { return fmt.Sprintf("%016X", key.ID()) }

const asksForRules = "a policy that is followed may change windows, backoff and wake, unless the settings say rules: allow"

// licensed says what a policy repeats that neither the one in force nor the one of
// its name which comes with the tool does: whoever publishes it must not be able to
// have writes applied twice.
func licensed(e *followed.Envelope, held *followed.Release) (faults []string) {
	var first []difference.Difference
	known := false
	for _, document := range []string{normal(held), bundled(e.Name)} {
		if document == "" {
			continue
		}
		bad := difference.Repeats(difference.Of(document, e.Policy.Normal))
		if len(bad) == 0 {
			return nil
		}
		if !known {
			first, known = bad, true
		}
	}
	if !known {
		return []string{fmt.Sprintf("there is no policy %s yet to compare it with; look at it, and pull it by its digest, or with rules: allow", e.Name)}
	}
	for _, d := range first {
		faults = append(faults, d.Text)
	}
	return append(faults, asksForRules)
}

func normal(r *followed.Release) string {
	if r == nil {
		return ""
	}
	return r.Policy.Normal
}

// bundled is the policy of a name that comes with the tool, "" if none does.
func bundled(name string) string {
	doc, err := policy.Parse(library.Source(name))
	if err != nil {
		return ""
	}
	return doc.Normal
}
