// Command backoff runs a command until it succeeds, with the retry loop of
// cenkalti/backoff and its own settings.
package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"

	"github.com/cenkalti/backoff/v5"
)

func main() {
	attempt := func() (struct{}, error) {
		return struct{}{}, exec.Command(os.Args[1], os.Args[2:]...).Run()
	}
	if _, err := backoff.Retry(context.Background(), attempt); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
