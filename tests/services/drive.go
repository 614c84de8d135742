package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"outlast/abi"
	"outlast/host"
	"outlast/httpretry"
)

// drive makes the calls that stdin names, by Go's clients: one line of JSON for each.
func drive(url string) error {
	plugin, err := host.Open()
	if err != nil {
		return err
	}
	patient := retryablehttp.NewClient()
	patient.Logger = slog.New(slog.DiscardHandler)
	by := map[string]*http.Client{
		"httpretry": {Transport: httpretry.New(plugin, http.DefaultTransport.(*http.Transport).Clone(), httpretry.Options{
			Ready: "/readyz", HonoursKey: httpretry.Routes("POST /orders/{id}"),
		})},
		"go-retryablehttp": patient.StandardClient(),
		"net/http":         {Transport: http.DefaultTransport.(*http.Transport).Clone()},
	}
	var running sync.WaitGroup
	var mu sync.Mutex // guards stdout
	for calls := json.NewDecoder(os.Stdin); ; {
		var c call
		if err := calls.Decode(&c); err == io.EOF {
			break
		} else if err != nil {
			return err
		}
		running.Go(func() {
			time.Sleep(time.Until(time.UnixMilli(c.At)))
			t := make1(by[c.Client], url, &c)
			mu.Lock()
			defer mu.Unlock()
			json.NewEncoder(os.Stdout).Encode(t)
		})
	}
	running.Wait()
	return nil
}

// make1 makes one call.
func make1(client *http.Client, url string, c *call) told {
	t := told{ID: c.ID, Outcome: answered, From: time.Now().UnixMilli()}
	err := send(client, url, c)
	var failed *host.CallError
	switch {
	case errors.As(err, &failed) && failed.Outcome.Type == abi.OutcomeIndeterminate:
		t.Outcome, t.Message = indeterminate, err.Error()
	case err != nil:
		t.Outcome, t.Message = "raised", err.Error()
	}
	t.To = time.Now().UnixMilli()
	return t
}

func send(client *http.Client, url string, c *call) error {
	body := io.Reader(nil)
	if c.Method == http.MethodPut || c.Method == http.MethodPost {
		body = strings.NewReader("x")
	}
	request, err := http.NewRequest(c.Method, url+c.Path, body)
	if err != nil {
		return err
	}
	if c.Key != "" {
		request.Header.Set("Idempotency-Key", c.Key)
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && !strings.Contains(string(text), c.ID) {
		err = fmt.Errorf("%s: %s", response.Status, text)
	}
	return err
}
