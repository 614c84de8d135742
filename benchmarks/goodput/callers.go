package goodput

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/cenkalti/backoff/v5"

	"outlast/abi"
	"outlast/host"
	"outlast/httpattempt"
	"outlast/httpretry"
	"outlast/ready"
)

// ended is a call that began; times are in nanoseconds of the wall clock.
type ended struct {
	Began, Ended int64 // Ended is 0 where it went on when the trial was over
	OK           bool
}

// calling makes one call, with all its attempts.
type calling = func(ctx context.Context) error

// Loops are what tries calls again, as each comes. What it returns makes one read.
var Loops = map[string]func(client *http.Client, address string) (calling, error){
	"run":        run(0),
	"patient":    run(backoff.DefaultMaxElapsedTime),
	"transport":  transport,
	"backoff":    backOff,
	"witan-core": witanCore,
}

// call begins so many calls a second, whatever became of those before.
func call(args []string) error {
	rate, err := strconv.ParseFloat(args[2], 64)
	if err != nil {
		return err
	}
	// Connections are kept, since each that is closed takes a port for a minute.
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1000}}
	calls, err := Loops[args[0]](client, args[1])
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	var all sync.WaitGroup
	var mu sync.Mutex
	var list []ended
	all.Go(func() {
		each := time.Duration(float64(time.Second) / rate)
		for next := time.Now(); ctx.Err() == nil; next = next.Add(each) {
			time.Sleep(time.Until(next))
			all.Go(func() {
				e := ended{Began: time.Now().UnixNano()}
				e.OK = calls(ctx) == nil
				if e.OK || ctx.Err() == nil {
					e.Ended = time.Now().UnixNano()
				}
				mu.Lock()
				defer mu.Unlock()
				list = append(list, e)
			})
		}
	})
	return untilEnd(func() any {
		stop()
		all.Wait()
		return list
	})
}

func request(ctx context.Context, address string) *http.Request {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/", nil)
	if err != nil {
		panic(err) // of an address of ours
	}
	return r
}

// run is outlast's, whose calls wait for so long; 0: as long as the policy says.
func run(maxWait time.Duration) func(*http.Client, string) (calling, error) {
	return func(client *http.Client, address string) (calling, error) {
		plugin, err := host.Open()
		if err != nil {
			return nil, err
		}
		target, err := ready.ParseTarget("tcp://" + address)
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context) error {
			_, err := plugin.Run(ctx, &host.Task{
				Call:    host.Call{Label: "read", Remote: true, Read: true},
				MaxWait: maxWait,
				Ready:   ready.Server(target),
				Attempt: httpattempt.Do(client, request(ctx, address), nil),
			})
			return err
		}, nil
	}
}

func transport(client *http.Client, address string) (calling, error) {
	plugin, err := host.Open()
	if err != nil {
		return nil, err
	}
	again := &http.Client{Transport: httpretry.New(plugin, client.Transport, httpretry.Options{})}
	return func(ctx context.Context) error { return get(ctx, again, address) }, nil
}

func backOff(client *http.Client, address string) (calling, error) {
	return func(ctx context.Context) error {
		_, err := backoff.Retry(ctx, func() (struct{}, error) {
			return struct{}{}, get(ctx, client, address)
		})
		return err
	}, nil
}

// witanCore is the policy that equals witan-core's loop, delay by delay, with its
// client's words for what became of a request. Nobody looks.
func witanCore(client *http.Client, address string) (calling, error) {
	plugin, err := host.Open()
	if err != nil {
		return nil, err
	}
	policy, err := host.BuiltIn("witan-core")
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		_, err := plugin.Run(ctx, &host.Task{
			Policy: policy, Call: host.Call{Label: "read", Remote: true, Read: true},
			Attempt: func(ctx context.Context, _ int64) (abi.Result, error) {
				return witanResult(get(ctx, client, address))
			},
		})
		return err
	}, nil
}

func witanResult(err error) (abi.Result, error) {
	var r abi.Result
	var status *httpattempt.StatusError
	switch {
	case errors.As(err, &status):
		code := int64(status.Status)
		r.HTTPStatus, r.Message = &code, abi.Clip(status.Text)
	case err == nil:
		code := int64(http.StatusOK)
		r.HTTPStatus = &code
	case errors.Is(err, syscall.ECONNREFUSED):
		r.Message = abi.Clip("could not connect to " + err.Error())
	default:
		r.Message = abi.Clip("request to the server failed: " + err.Error())
	}
	return r, err
}

func get(ctx context.Context, client *http.Client, address string) error {
	response, err := client.Do(request(ctx, address))
	if err != nil {
		return err
	}
	defer response.Body.Close()
	return httpattempt.Check(response)
}
