package httpattempt_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"

	"outlast/abi"
	"outlast/host"
	"outlast/httpattempt"
	"outlast/internal/recipetest"
)

// begin recipe
func order(ctx context.Context, plugin *host.Plugin, client *http.Client, url string, body io.Reader) error {
	request, err := http.NewRequest(http.MethodPost, url, body)
	if err != nil {
		return err
	}
	_, err = plugin.Run(ctx, &host.Task{
		Call:    host.Call{Label: "order", Remote: true},
		Attempt: httpattempt.Do(client, request, nil),
	})
	var failed *host.CallError
	if errors.As(err, &failed) && failed.Outcome.Type == abi.OutcomeIndeterminate {
		return fmt.Errorf("it may have been ordered, so look: %w", err)
	}
	return err
}

// end recipe

// The recipe of docs/policies.md is this one.
func TestTheRecipeIsThePages(t *testing.T) {
	recipetest.IsThePages(t, "recipe_test.go", "../docs/policies.md")
}

// The page's policy for functions does what its text says.
func TestThePagesPolicy(t *testing.T) {
	page, err := os.ReadFile("../docs/policies.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```json policy\n")
	text, _, _ := strings.Cut(rest, "```")
	p, err := host.ParsePolicy(text)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		stage *stage
		read  bool
		want  string
	}{
		"a write to a server that is away": {newStage(t, nil), false, "1, ok, rode it out"},
		"a read whose connection breaks":   {newStage(t, answers(func(_ *stage, c net.Conn) { c.Close() })), true, "3, exhausted"},
		"a write that is refused":          {newStage(t, status("403 Forbidden")), false, "1, failed"},
		"a write that fails":               {newStage(t, status("500 Internal Server Error")), false, "1, indeterminate"},
	} {
		got := c.stage.task(t, &host.Task{
			Policy: p, Call: host.Call{Remote: true, Read: c.read},
			Attempt: httpattempt.Do(c.stage.client, c.stage.request(t, c.read), nil),
		})
		if got.String() != c.want {
			t.Errorf("%s: %s: %v", name, got, got.err)
		}
	}
}

// It orders once, through a redirect, a second attempt and a body that is spent.
func TestTheRecipe(t *testing.T) {
	for name, c := range map[string]struct {
		stage   func() *stage
		body    io.Reader
		applied int64
		doubt   bool
		err     error
	}{
		"a redirect":      {func() *stage { return redirected(t, "307 Temporary Redirect") }, strings.NewReader("x"), 1, true, nil},
		"another one":     {func() *stage { return redirected(t, "303 See Other") }, strings.NewReader("x"), 1, true, nil},
		"a second try":    {func() *stage { return newStage(t, nil) }, strings.NewReader("x"), 1, false, nil},
		"a spent body":    {func() *stage { return newStage(t, nil) }, io.MultiReader(strings.NewReader("x")), 0, false, httpattempt.ErrSpent},
		"one that serves": {func() *stage { return newStage(t, says(fine)) }, io.MultiReader(strings.NewReader("x")), 1, false, nil},
	} {
		s := c.stage()
		s.client.Transport = &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, network, address)
			if err != nil && c.applied > 0 {
				s.heal() // for the next attempt
			}
			return conn, err
		}}
		err := order(t.Context(), plugin, s.client, s.url, c.body)
		doubt := err != nil && strings.HasPrefix(err.Error(), "it may have been ordered")
		if s.applied.Load() != c.applied || doubt != c.doubt || (err == nil) != (!c.doubt && c.err == nil) || c.err != nil && !errors.Is(err, c.err) {
			t.Errorf("%s: ordered %d times, %v", name, s.applied.Load(), err)
		}
	}
}
