package httpattempt

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"outlast/abi"
)

// StatusError is an answer whose status is not 2xx.
type StatusError struct {
	Status     int
	RetryAfter *time.Duration // what the server asked for; nil: nothing
	Text       string         // what it said, at most its first 1 KiB
}

func (e *StatusError) Error() string {
	text := fmt.Sprintf("the server answered %d %s", e.Status, http.StatusText(e.Status))
	if said := oneLine(e.Text); said != "" {
		text += ": " + said
	}
	return text
}

// Check is a *StatusError unless the status is 2xx; it reads what the body says
// then. For functions of Func: it is what a policy goes by.
func Check(response *http.Response) error {
	if response.StatusCode/100 == 2 {
		return nil
	}
	e := &StatusError{Status: response.StatusCode, RetryAfter: retryAfter(response.Header)}
	if response.StatusCode == http.StatusSwitchingProtocols {
		return e
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, abi.MaxErrorBytes))
	if e.Text = string(text); err != nil {
		return errors.Join(e, err)
	}
	return e
}

// retryAfter is the server's Retry-After: whole seconds, or a date.
func retryAfter(header http.Header) *time.Duration {
	value := strings.TrimSpace(header.Get("Retry-After"))
	if date, err := http.ParseTime(value); err == nil {
		wait := max(0, time.Until(date))
		return &wait
	}
	seconds, err := strconv.ParseUint(value, 10, 63)
	if errors.Is(err, strconv.ErrRange) {
		seconds, err = longest, nil
	}
	if err != nil {
		return nil
	}
	wait := time.Duration(min(seconds, longest)) * time.Second
	return &wait
}

// longest is the most seconds that a time.Duration has.
const longest = uint64(1<<63-1) / uint64(time.Second)

// oneLine is a text on one line.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// put puts an answer into a result.
func (e *StatusError) put(r *abi.Result) {
	status := int64(e.Status)
	r.HTTPStatus = &status
	r.Message = abi.Clip(cmp.Or(e.Text, http.StatusText(e.Status), "no reason"))
	if e.RetryAfter != nil {
		us := e.RetryAfter.Microseconds()
		r.RetryAfterUS = &us
	}
}
