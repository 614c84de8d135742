package pull

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"outlast/followed"
	"outlast/httpattempt"
)

// The media types of an artifact's layers: the envelope, and minisign's signature.
const (
	EnvelopeType  = "application/vnd.outlast.policy.v1+json"
	SignatureType = "application/vnd.outlast.policy.v1.minisig"
	manifestType  = "application/vnd.oci.image.manifest.v1+json"
)

// registry is a client of the distribution specification for the two things that
// are asked of one: a manifest and its blobs.
type registry struct {
	client *http.Client
	source *Source
	bearer string // the Authorization header; "": none yet
}

// manifest is as much of one as is read.
type manifest struct {
	MediaType string  `json:"mediaType"`
	Layers    []layer `json:"layers"`
}

type layer struct {
	MediaType string `json:"mediaType"`
	Digest    string `json:"digest"`
	Size      int64  `json:"size"`
}

func (r *registry) fetch(ctx context.Context) (*Published, error) {
	text, err := r.get(ctx, "manifests/"+cmp.Or(r.source.tag, r.source.Digest), maxSmall)
	if err != nil {
		return nil, err
	}
	if is := followed.Digest(text); r.source.Digest != "" && is != r.source.Digest {
		return nil, refused("the manifest's digest is %s, and not the one that was asked for", is)
	}
	var m manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, refused("the manifest is not JSON as it must be: %v", err)
	}
	p := &Published{}
	if p.Text, err = r.layer(ctx, &m, EnvelopeType, followed.MaxEnvelopeBytes); err != nil {
		return nil, err
	}
	if p.Text == nil {
		return nil, refused("the manifest, of type %q, has no layer of type %s", m.MediaType, EnvelopeType)
	}
	signature, err := r.layer(ctx, &m, SignatureType, maxSmall)
	p.Signature = string(signature)
	return p, err
}

// layer is the manifest's layer of a type, nil if there is none.
func (r *registry) layer(ctx context.Context, m *manifest, mediaType string, most int) ([]byte, error) {
	for _, l := range m.Layers {
		if l.MediaType != mediaType {
			continue
		}
		text, err := r.get(ctx, "blobs/"+l.Digest, most)
		if err != nil {
			return nil, err
		}
		if is := followed.Digest(text); is != l.Digest || int64(len(text)) != l.Size {
			return nil, refused("the layer %s came with the digest %s and %d bytes, not %d", l.Digest, is, len(text), l.Size)
		}
		return text, nil
	}
	return nil, nil
}

// get gets a part of the repository, with a token if the registry asks for one.
func (r *registry) get(ctx context.Context, part string, most int) ([]byte, error) {
	u := *r.source.url
	u.Path = "/v2" + u.Path + "/" + part
	text, err := get(ctx, r.client, u.String(), r.header(), most)
	var answer *answerError
	if r.bearer != "" || !errors.As(err, &answer) || answer.challenge == "" || statusOf(err) != http.StatusUnauthorized {
		return text, err
	}
	if r.bearer, err = r.authorize(ctx, answer.challenge); err != nil {
		return nil, err
	}
	return get(ctx, r.client, u.String(), r.header(), most)
}

func statusOf(err error) int {
	var status *httpattempt.StatusError
	if !errors.As(err, &status) {
		return 0
	}
	return status.Status
}

func (r *registry) header() http.Header {
	h := http.Header{"Accept": {manifestType}}
	if r.bearer != "" {
		h.Set("Authorization", r.bearer)
	}
	return h
}

// authorize is the Authorization header that answers a challenge: a token of the
// server that the registry names, or the login itself.
func (r *registry) authorize(ctx context.Context, challenge string) (string, error) {
	login := loginOf(r.source.url.Host)
	scheme, rest, _ := strings.Cut(challenge, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return login, nil
	}
	query, realm := url.Values{}, ""
	for rest != "" { // name="value",name="value"; a scope may have commas
		name, after, _ := strings.Cut(rest, `="`)
		value, more, _ := strings.Cut(after, `"`)
		rest = strings.TrimLeft(more, ", ")
		if name == "realm" {
			realm = value
		} else {
			query.Set(name, value)
		}
	}
	u, err := url.Parse(realm)
	if err != nil || !isSafe(u) {
		return "", refused("the registry sends for a token to %q, which is not https", realm)
	}
	u.RawQuery = query.Encode()
	header := http.Header{}
	if login != "" {
		header.Set("Authorization", login)
	}
	text, err := get(ctx, r.client, u.String(), header, maxSmall)
	if err != nil {
		return "", err
	}
	var answer struct {
		Token       string `json:"token"`
		AccessToken string `json:"access_token"`
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return "", refused("what came for a token from %s is not JSON as it must be: %v", u.Host, err)
	}
	return "Bearer " + cmp.Or(answer.Token, answer.AccessToken), nil
}

// loginOf is the login for a registry as docker login, podman login and oras login
// keep it in a file; "" where there is none. Their helper programs are not asked.
func loginOf(host string) string {
	path := os.Getenv("REGISTRY_AUTH_FILE")
	if path == "" {
		home, _ := os.UserHomeDir()
		path = filepath.Join(cmp.Or(os.Getenv("DOCKER_CONFIG"), filepath.Join(home, ".docker")), "config.json")
	}
	text, err := os.ReadFile(path)
	var config struct {
		Auths map[string]struct {
			Auth string `json:"auth"`
		} `json:"auths"`
	}
	if err != nil || json.Unmarshal(text, &config) != nil || config.Auths[host].Auth == "" {
		return ""
	}
	return "Basic " + config.Auths[host].Auth
}
