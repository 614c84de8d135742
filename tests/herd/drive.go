//go:build linux

package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"outlast/host"
	"outlast/httpattempt"
	"outlast/ready"
)

// drive makes so many calls of a server from this process, which wait for it
// together.
func drive(url, count string) {
	n, _ := strconv.Atoi(count)
	plugin, err := host.Open()
	if err == nil {
		err = call(plugin, url, n)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func call(plugin *host.Plugin, url string, n int) error {
	choice, err := ready.Parse(url + "/healthz")
	if err != nil {
		return err
	}
	policy, err := host.BuiltIn("network")
	if err != nil {
		return err
	}
	var all sync.WaitGroup
	errs := make(chan error, n)
	for range n {
		all.Go(func() {
			request, _ := http.NewRequest(http.MethodGet, url+"/data", nil)
			_, err := plugin.Run(context.Background(), &host.Task{
				Policy: policy, Call: host.Call{Read: true, Remote: true}, Ready: ready.Server(*choice.Target),
				Attempt: httpattempt.Do(nil, request, nil),
			})
			if err != nil {
				errs <- err
			}
		})
		time.Sleep(10 * time.Millisecond)
	}
	all.Wait()
	if len(errs) > 0 {
		return fmt.Errorf("%d of %d: %w", len(errs), n, <-errs)
	}
	return nil
}
