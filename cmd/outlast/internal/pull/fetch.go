package pull

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"outlast/followed"
	"outlast/httpattempt"
)

// Published is what a source has.
type Published struct {
	Text      []byte // of the envelope
	Signature string // "": there is none
}

// Refused says that what was fetched is not taken, with all that is wrong with it.
type Refused struct{ Faults []string }

func (e *Refused) Error() string {
	text := e.Faults[0]
	if more := len(e.Faults) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more)", more)
	}
	return text
}

func refused(format string, args ...any) error {
	return &Refused{[]string{fmt.Sprintf(format, args...)}}
}

// Bounds of what is read beside an envelope, in bytes, and of the time that one
// request may take: choices.
const (
	maxSmall    = 64 << 10 // of a manifest, a token or a signature, which have some hundred
	requestTime = 30 * time.Second
)

// client is one that follows no redirect to where an answer could be changed on its
// way. Its requests are watched, so that the policy network can go by them.
func client(base http.RoundTripper) *http.Client {
	return &http.Client{
		Transport: httpattempt.Transport(base), Timeout: requestTime,
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			switch {
			case !isSafe(r.URL):
				return refused("a redirect leads to %s, which is not https", r.URL.Redacted())
			case len(via) >= 10: // net/http's own bound
				return errors.New("too many redirects")
			}
			return nil
		},
	}
}

// fetch gets what a source has. The error is a *Refused for what is not as it must
// be; any other says why the source cannot be reached.
func (s *Source) fetch(ctx context.Context, c *http.Client) (*Published, error) {
	if s.isRegistry() {
		return (&registry{client: c, source: s}).fetch(ctx)
	}
	text, err := get(ctx, c, s.url.String(), nil, followed.MaxEnvelopeBytes)
	if err != nil {
		return nil, err
	}
	if is := followed.Digest(text); s.Digest != "" && is != s.Digest {
		return nil, refused("its digest is %s, and not the one that was asked for", is)
	}
	signature, err := get(ctx, c, s.url.String()+".minisig", nil, maxSmall)
	var status *httpattempt.StatusError
	if errors.As(err, &status) && (status.Status == http.StatusNotFound || status.Status == http.StatusGone) {
		err = nil
	}
	return &Published{text, string(signature)}, err
}

// get reads an answer of at most so many bytes.
func get(ctx context.Context, c *http.Client, url string, header http.Header, most int) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	if header != nil {
		request.Header = header
	}
	response, err := c.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if err := httpattempt.Check(response); err != nil {
		return nil, &answerError{err, response.Header.Get("WWW-Authenticate")}
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, int64(most)+1))
	if len(text) > most {
		return nil, refused("%s is longer than %d bytes", request.URL.Redacted(), most)
	}
	return text, err
}

// answerError is a status that is not 2xx, with how the server wants to be asked.
type answerError struct {
	error
	challenge string
}

func (e *answerError) Unwrap() error { return e.error }
