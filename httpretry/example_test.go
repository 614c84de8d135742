package httpretry_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"outlast/abi"
	"outlast/host"
	"outlast/host/virtual"
	"outlast/httpretry"
	"outlast/internal/recipetest"
)

// begin recipe
func ordersClient(plugin *host.Plugin) *http.Client {
	return &http.Client{Transport: httpretry.New(plugin, http.DefaultTransport, httpretry.Options{
		MaxWait:    time.Minute,
		Ready:      "/readyz",
		HonoursKey: httpretry.Routes("POST /orders"),
		Repeatable: httpretry.Routes("PUT /orders/{id}/note"),
	})}
}

func order(client *http.Client, url, key, what string) error {
	request, err := http.NewRequest(http.MethodPost, url, strings.NewReader(what))
	if err != nil {
		return err
	}
	request.Header.Set("Idempotency-Key", key)
	response, err := client.Do(request)
	var failed *host.CallError
	if errors.As(err, &failed) && failed.Outcome.Type == abi.OutcomeIndeterminate {
		return fmt.Errorf("it may have been ordered, so look: %w", err)
	}
	if err != nil {
		return err
	}
	return response.Body.Close()
}

// end recipe

// The recipe of docs/http-clients.md is this one.
func TestTheRecipeIsThePages(t *testing.T) {
	recipetest.IsThePages(t, "example_test.go", "../docs/http-clients.md")
}

// It orders again with the same key where that is honoured, and nowhere else, though
// the first answer is lost.
func TestTheRecipe(t *testing.T) {
	var orders, payments atomic.Int64
	to, _ := serve(t, func(_ int64, w http.ResponseWriter, r *http.Request) {
		counts := map[string]*atomic.Int64{"o-1": &orders, "p-1": &payments}[r.Header.Get("Idempotency-Key")]
		if counts != nil && counts.Add(1) == 1 { // else somebody looks whether the server is ready
			panic(http.ErrAbortHandler)
		}
	})
	client := ordersClient(plugin)
	if err := order(client, to+"/orders", "o-1", "tea"); err != nil || orders.Load() != 2 {
		t.Errorf("%v, ordered %d times", err, orders.Load())
	}
	if err := order(client, to+"/payments", "p-1", "tea"); err == nil || !strings.HasPrefix(err.Error(), "it may have been ordered") || payments.Load() != 1 {
		t.Errorf("%v, paid %d times", err, payments.Load())
	}
	client.CloseIdleConnections()
}

func ExampleNew() {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked++; asked < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	client := server.Client()
	client.Transport = httpretry.New(plugin, client.Transport, httpretry.Options{Clock: &virtual.Clock{}})
	response, err := client.Get(server.URL)
	if err != nil {
		panic(err)
	}
	response.Body.Close()
	fmt.Println(response.StatusCode, asked)
	// Output: 200 3
}

func ExampleWith() {
	ctx := httpretry.With(context.Background(), func(o *httpretry.Options) { o.MaxWait = 5 * time.Second })
	request, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://orders/", nil)
	_ = request
}
