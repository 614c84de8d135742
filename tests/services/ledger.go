package main

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

// A service, in each of the three, has these routes. It appends the ID of what it
// applies to its ledger before it answers, and ?slow=1 has it answer 0.3 s later.
//
//	GET    /readyz
//	GET    /items/{id}
//	PUT    /items/{id}    applied
//	DELETE /items/{id}    applied
//	POST   /notes/{id}    applied
//	POST   /orders/{id}   applied, once for each Idempotency-Key: the ledger keeps them
type service struct {
	ledger *os.File

	mu   sync.Mutex // guards keys
	keys map[string]bool
}

const slowness = 300 * time.Millisecond

// serve is the service in net/http.
func serve(port, file string) error {
	ledger, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	entries, err := readLedger(file)
	if err != nil {
		return err
	}
	s := &service{ledger: ledger, keys: map[string]bool{}}
	for _, e := range entries {
		s.keys[e.key] = true
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /readyz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /items/{id}", answer)
	mux.HandleFunc("PUT /items/{id}", s.write)
	mux.HandleFunc("DELETE /items/{id}", s.write)
	mux.HandleFunc("POST /notes/{id}", s.write)
	mux.HandleFunc("POST /orders/{id}", s.order)
	return http.ListenAndServe("127.0.0.1:"+port, mux)
}

func answer(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("slow") != "" {
		time.Sleep(slowness)
	}
	fmt.Fprintf(w, `{"id":%q}`, r.PathValue("id"))
}

func (s *service) write(w http.ResponseWriter, r *http.Request) {
	fmt.Fprintln(s.ledger, r.PathValue("id"))
	answer(w, r)
}

func (s *service) order(w http.ResponseWriter, r *http.Request) {
	key := r.Header.Get("Idempotency-Key")
	s.mu.Lock()
	if !s.keys[key] {
		s.keys[key] = true
		fmt.Fprintln(s.ledger, r.PathValue("id"), key)
	}
	s.mu.Unlock()
	answer(w, r)
}

// entry is a line of a ledger.
type entry struct{ id, key string }

func readLedger(file string) ([]entry, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var all []entry
	for line := range strings.Lines(string(text)) {
		id, key, _ := strings.Cut(strings.TrimSpace(line), " ")
		all = append(all, entry{id, key})
	}
	return all, nil
}
