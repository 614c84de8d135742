//go:build unix

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"outlast/abi"
	"outlast/host"
	"outlast/httpattempt"
	"outlast/httpretry"
)

// driver makes the calls that stdin names, as those of the other languages do.
type driver struct {
	url    string
	plugin *host.Plugin
	policy *host.Policy
	limit  time.Duration
	kept   map[string]http.RoundTripper // by client
}

func drive(url, document string) {
	if err := driveAll(url, document); err != nil {
		fmt.Fprintln(os.Stderr, "functions:", err)
		os.Exit(1)
	}
}

func driveAll(url, document string) error {
	plugin, err := host.Open()
	if err != nil {
		return err
	}
	policy, err := host.ReadPolicy(document)
	if err != nil {
		return err
	}
	ms, err := strconv.Atoi(os.Getenv(limitVar))
	if err != nil {
		return err
	}
	atOnce, err := strconv.Atoi(os.Getenv(atOnceVar))
	if err != nil {
		return err
	}
	d := &driver{url, plugin, policy, time.Duration(ms) * time.Millisecond, map[string]http.RoundTripper{}}
	for _, name := range languages[0].clients {
		d.kept[name] = &http.Transport{MaxIdleConnsPerHost: atOnce}
	}
	var running sync.WaitGroup
	var mu sync.Mutex // guards out
	out, slots := json.NewEncoder(os.Stdout), make(chan struct{}, atOnce)
	for calls := json.NewDecoder(os.Stdin); ; {
		var c call
		if err := calls.Decode(&c); err == io.EOF {
			break
		} else if err != nil {
			return err
		}
		slots <- struct{}{}
		running.Go(func() {
			t := d.make(&c)
			mu.Lock()
			defer mu.Unlock()
			out.Encode(t)
			<-slots
		})
	}
	running.Wait()
	return nil
}

// make carries out one call.
func (d *driver) make(c *call) (t told) {
	var seen [2]string
	t = told{ID: c.ID, Outcome: string(abi.OutcomeOK), Effects: "none", From: time.Now().UnixMilli()}
	defer func() { t.Seen, t.To = strings.Join(seen[:], ""), time.Now().UnixMilli() }()
	if c.Client == transported {
		d.transport(c, &t, &seen[0])
		return t
	}
	attempt := d.attempt(c, &seen)
	task := &host.Task{
		Policy:      d.policy,
		Call:        host.Call{Label: c.ID, Remote: true, Read: c.Read, RefusesBeforeActing: c.Refuses},
		OnlyRequest: c.Client == "Func-claimed",
		Attempt: func(ctx context.Context, n int64) (abi.Result, error) {
			t.Attempts++
			return attempt(ctx, n)
		},
	}
	_, err := d.plugin.Run(context.Background(), task)
	t.tell(err)
	return t
}

// tell says how a call ended.
func (t *told) tell(err error) {
	var failed *host.CallError
	switch {
	case errors.As(err, &failed):
		t.Outcome, t.Effects, t.Message = string(failed.Outcome.Type), string(failed.Outcome.Effects), err.Error()
		for _, past := range failed.Outcome.History {
			t.Kinds = append(t.Kinds, past.Kind)
		}
	case err != nil:
		t.Outcome, t.Effects, t.Message = "raised", "unknown", err.Error()
	}
}

// transport makes a call by a client whose transport tries again. What comes after an
// answer's header is the caller's, as is a redirect.
func (d *driver) transport(c *call, t *told, seen *string) {
	base := d.kept[c.Client]
	if !c.Kept {
		base = &http.Transport{DisableKeepAlives: true}
	}
	request, err := d.request(c, 0, 1)
	if err != nil {
		panic(err) // the call's path is wrong
	}
	var ended abi.Outcome
	client := &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: httpretry.New(d.plugin, base, httpretry.Options{
			Policy: d.policy, AttemptTimeout: d.limit, RefusesBeforeActing: c.Refuses, Ready: "off",
			Repeatable: func(*http.Request) bool { return c.Read }, // as if it were a read
			Observe: func(e host.Event) {
				switch e := e.(type) {
				case host.AttemptEnded:
					t.Attempts++
					request.URL.Path = fmt.Sprint(c.Path, "/0/", e.Attempt+1) // of the next
				case host.Stopped:
					ended = e.Outcome
				}
			},
		}),
	}
	response, err := client.Do(request)
	if err != nil {
		t.tell(err)
		return
	}
	defer response.Body.Close()
	err = keep(seen)(response)
	switch {
	case ended.Type != abi.OutcomeOK:
		t.Outcome, t.Effects, t.Message = string(ended.Type), string(ended.Effects), ended.Message
	case err != nil || response.StatusCode != http.StatusOK:
		t.Outcome, t.Effects, t.Message = "failed", "unknown", response.Status
	}
}

// attempt is what the call tries, with the client that it names.
func (d *driver) attempt(c *call, seen *[2]string) httpattempt.Attempt {
	client := &http.Client{Timeout: d.limit, Transport: d.kept[c.Client]}
	if !c.Kept {
		client.Transport = &http.Transport{DisableKeepAlives: true}
	}
	if c.Client == "Do" {
		return d.do(c, client, &seen[0])
	}
	client.Transport = httpattempt.Transport(client.Transport)
	if c.Client == "Func-claimed" {
		client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	var n atomic.Int64
	return httpattempt.Func(func(ctx context.Context) error {
		attempt := n.Add(1)
		ask := func(number int) error {
			request, err := d.request(c, number, attempt)
			if err != nil {
				return err
			}
			response, err := client.Do(request.WithContext(ctx))
			if err != nil {
				return err
			}
			defer response.Body.Close()
			if err := httpattempt.Check(response); err != nil {
				return err
			}
			return keep(&seen[number])(response)
		}
		return shaped(c.Shape, ask)
	})
}

// do makes each attempt by Do, whose requests differ in what counts them.
func (d *driver) do(c *call, client *http.Client, seen *string) httpattempt.Attempt {
	request, err := d.request(c, 0, 1)
	if err != nil {
		panic(err) // the call's path is wrong
	}
	attempt := httpattempt.Do(client, request, keep(seen))
	return func(ctx context.Context, n int64) (abi.Result, error) {
		request.URL.Path = fmt.Sprint(c.Path, "/0/", n)
		return attempt(ctx, n)
	}
}

func (d *driver) request(c *call, number int, attempt int64) (*http.Request, error) {
	method, body := http.MethodGet, io.Reader(nil)
	if c.Write {
		method, body = http.MethodPost, strings.NewReader("x")
	}
	return http.NewRequest(method, fmt.Sprint(d.url, c.Path, "/", number, "/", attempt), body)
}

func keep(seen *string) func(*http.Response) error {
	return func(response *http.Response) error {
		text, err := io.ReadAll(response.Body)
		*seen = string(text)
		return err
	}
}

func shaped(shape string, ask func(number int) error) error {
	switch shape {
	case then:
		if err := ask(0); err != nil {
			return err
		}
		return ask(1)
	case both:
		other := make(chan error)
		go func() { other <- ask(1) }()
		err := ask(0)
		return errors.Join(err, <-other)
	}
	return ask(0)
}
