package httpattempt

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"runtime"
	"sync"
	"weak"
)

// ErrSpent says that a request's body cannot be read again, and so that the
// request is not tried again: it has no GetBody, which http.NewRequest gives to
// bytes.Buffer, bytes.Reader and strings.Reader.
var ErrSpent = errors.New("the request is not tried again, since it has a body and no GetBody")

// again is a request with its body from the start.
func again(r *http.Request) (*http.Request, error) {
	switch {
	case !hasBody(r) || given.first(r):
		return r, nil
	case r.GetBody == nil:
		return nil, ErrSpent
	}
	body, err := anew(r)
	if err != nil {
		return nil, err
	}
	request := *r
	request.Body = body
	return &request, nil
}

// anew is a request's body from the start.
func anew(r *http.Request) (io.ReadCloser, error) {
	body, err := r.GetBody()
	if err != nil {
		return nil, fmt.Errorf("httpattempt: GetBody: %w", err)
	}
	return body, nil
}

// given are the bodies that requests were made with, by whichever Do: one that is
// read cannot be told from one that is empty.
var given = bodies{of: map[weak.Pointer[http.Request]]io.Reader{}}

type bodies struct {
	mu sync.Mutex
	of map[weak.Pointer[http.Request]]io.Reader
}

// first says whether a request has a body that it was not made with before.
func (b *bodies) first(r *http.Request) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	key := weak.Make(r)
	was, known := b.of[key]
	if known && reflect.ValueOf(was).Comparable() && reflect.ValueOf(r.Body).Comparable() && was == io.Reader(r.Body) {
		return false
	}
	if !known {
		runtime.AddCleanup(r, b.forget, key)
	}
	b.of[key] = r.Body
	return true
}

func (b *bodies) forget(key weak.Pointer[http.Request]) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.of, key)
}
