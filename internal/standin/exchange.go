package standin

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

// discoveryTimeout is omnigraph's for the whole of one.
const discoveryTimeout = 5 * time.Second

// exchange is what the command knows of its requests so far.
type exchange struct {
	*cli
	client        *http.Client
	effectful     int  // requests that can have effects
	lastEffectful bool // whether the last data request can
	status        int  // of the last data answer; 0 without one
	retryAfter    string
}

func (c *cli) exchange() *exchange {
	client := &http.Client{Transport: transport()}
	if c.release.discovers() {
		client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	return &exchange{cli: c, client: client}
}

// discover asks whether the server speaks this release's contract.
func (e *exchange) discover() error {
	ctx, cancel := context.WithTimeout(context.Background(), discoveryTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodHead, e.server+"/healthz", nil)
	if err != nil {
		return err
	}
	response, err := e.client.Do(request)
	if err != nil {
		return e.undiscovered(err, 0)
	}
	response.Body.Close()
	if response.StatusCode/100 != 2 || !e.stamped(response) {
		return e.undiscovered(nil, response.StatusCode)
	}
	return nil
}

func (e *exchange) stamped(response *http.Response) bool {
	values := response.Header.Values(header)
	return len(values) == 1 && values[0] == e.release.contract()
}

func (e *exchange) undiscovered(cause error, status int) error {
	contract := e.release.header() + ": " + e.release.contract()
	unsent := "could not establish " + contract + "; this data request was not sent"
	text := "could not establish " + contract + " through successful server discovery; this data request was not sent; configure the server root and select the graph separately"
	switch {
	case cause == nil || e.release.dev:
	case isTimeout(cause):
		text = "server discovery timed out; " + unsent
	case isConnect(cause):
		text = "server discovery connection failed (DNS, TCP, proxy, or TLS); " + unsent
	}
	return &contractError{text: text, status: status}
}

// send makes one data request, after the discovery that it needs.
func (e *exchange) send(method, path, body string) (*http.Response, error) {
	if e.release.discovers() {
		if err := e.discover(); err != nil {
			return nil, err
		}
	}
	e.lastEffectful = method != http.MethodGet
	if e.lastEffectful {
		e.effectful++
	}
	e.status, e.retryAfter = 0, ""
	response, err := e.client.Do(e.request(method, path, body))
	if err != nil {
		return nil, e.transportError(err, e.server+path)
	}
	e.status, e.retryAfter = response.StatusCode, onlyValue(response, "Retry-After")
	if e.release.discovers() && !e.stamped(response) {
		response.Body.Close()
		return nil, &contractError{
			text: "server response did not carry exactly one " + e.release.header() + ": " + e.release.contract() +
				" header; this request's effects are unknown; do not retry automatically",
			status: response.StatusCode, dispatched: true,
		}
	}
	return response, nil
}

func (e *exchange) request(method, path, body string) *http.Request {
	request, err := http.NewRequest(method, e.server+path, strings.NewReader(body))
	if err != nil {
		panic(err) // the discovery has used this address
	}
	request.Header.Set("Content-Type", "application/json")
	if e.release.discovers() {
		request.Header.Set(header, e.release.contract())
	}
	if e.ifCommit != "" {
		request.Header.Set("omnigraph-if-graph-commit", e.ifCommit)
	}
	if token := os.Getenv("OMNIGRAPH_BEARER_TOKEN"); token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	e.client.Timeout = e.timeout
	return request
}

func onlyValue(response *http.Response, name string) string {
	if values := response.Header.Values(name); len(values) == 1 {
		return values[0]
	}
	return ""
}

// ask makes one data request and reads its answer.
func (e *exchange) ask(method, path, body string) (value any, raw string, err error) {
	response, err := e.send(method, path, body)
	if err != nil {
		return nil, "", err
	}
	defer response.Body.Close()
	bytes, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, "", decodeError(err)
	}
	if response.StatusCode/100 == 2 {
		if value, err = decode(bytes); err != nil {
			return nil, "", causes{unreadable(bytes)}
		}
		return value, string(bytes), nil
	}
	t, ok := readTold(bytes)
	if !ok {
		return nil, "", causes{fmt.Sprintf("server returned %s: %s", statusLine(response.StatusCode), strings.ToValidUTF8(string(bytes), "\uFFFD"))}
	}
	return nil, "", e.refused(t, response.StatusCode)
}

// refused is an answer in the server's own words.
func (e *exchange) refused(t told, status int) *refusal {
	r := &refusal{told: t, status: status, retryAfter: e.retryAfter}
	detail, _ := t.detail("precondition_failure")
	expected, _ := detail.(map[string]any)
	r.lostRace = status == http.StatusPreconditionFailed && e.ifCommit != "" && expected["expected"] == e.ifCommit &&
		t.code == "" && len(t.details) == 1 && e.alone()
	return r
}

// alone says whether the last request was the only one that can have effects.
func (e *exchange) alone() bool { return e.effectful == 1 && e.lastEffectful }

func statusLine(status int) string {
	reason := http.StatusText(status)
	switch {
	case status == http.StatusRequestEntityTooLarge:
		reason = "Payload Too Large" // as omnigraph's HTTP library has it
	case reason == "":
		reason = "<unknown status code>"
	}
	return fmt.Sprintf("%d %s", status, reason)
}
