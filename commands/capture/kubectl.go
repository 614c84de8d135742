//go:build unix

package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
)

func kubectl(s *stage) {
	port := closed()
	at := func(port string, more ...string) []string {
		return append([]string{"kubectl", "-s", "http://127.0.0.1:" + port}, more...)
	}
	two := map[string]string{"a.json": manifest("a") + "\n" + manifest("b")}
	apply := []string{"apply", "--validate=false", "-f", "a.json"}
	for _, c := range []scene{
		{name: "kubectl-get-refused", argv: at(port, "get", "configmaps"), happened: "nobody listens", kind: "unavailable"},
		{name: "kubectl-version-refused", argv: at(port, "version"), happened: "nobody listens", kind: "unavailable"},
		{name: "kubectl-apply-refused", argv: at(port, apply...), files: two, happened: "nobody listens", kind: "unavailable"},
		{name: "kubectl-apply-stdin-refused", argv: at(port, "apply", "--validate=false", "-f", "-"), stdin: manifest("a"), happened: "nobody listens", kind: "unavailable"},
		{name: "kubectl-unresolved", argv: []string{"kubectl", "-s", "http://" + unresolvable, "get", "configmaps"}, happened: "the name does not resolve", kind: "unresolved"},
		{name: "kubectl-version-unresolved", argv: []string{"kubectl", "-s", "http://" + unresolvable, "version"}, happened: "the name does not resolve", kind: "unresolved"},
		{name: "kubectl-silent", argv: at(s.silent(), "get", "configmaps", "--request-timeout=1s"), happened: "the host does not answer within kubectl's own limit, which could be that of an answer too", kind: "failed"},
		{name: "kubectl-version-silent", argv: at(s.silent(), "version"), happened: "the host does not answer", kind: "unavailable"},
		{name: "kubectl-hangs-up", argv: at(s.hangsUp(), "version"), happened: "the connection is closed at once", kind: "failed"},
		{name: "kubectl-no-file", argv: at(port, "apply", "--validate=false", "-f", "none.json"), happened: "the file does not exist", kind: "failed"},
	} {
		s.play(c)
	}
	fails := s.web(func(w http.ResponseWriter, r *http.Request) {
		if !discover(w, r) {
			status(w, 500, "InternalError", "The connection to the server h was refused - did you specify the right host or port?")
		}
	})
	for _, c := range []scene{
		{name: "kubectl-server-imitates", argv: at(fails, "get", "configmaps"), happened: "the server's own error has the words of a failed connection", kind: "failed"},
		{name: "kubectl-apply-dies-midway", argv: at(dies(http.MethodPost, 1), apply...), files: two, applied: true, happened: "the first of two objects was created, then the server died", kind: "failed"},
		{name: "kubectl-apply-dies-at-second-write", argv: at(dies(http.MethodGet, 2), apply...), files: two, applied: true, happened: "the first of two objects was created, and the server died after it had been asked for the second", kind: "failed"},
		{name: "kubectl-delete-dies-midway", argv: at(dies(http.MethodDelete, 1), "delete", "configmap", "a"), applied: true, happened: "the object was deleted, then the server died", kind: "unavailable"},
	} {
		s.play(c)
	}
}

func manifest(name string) string {
	return `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"` + name + `","namespace":"default"}}`
}

// discover answers what kubectl asks of every server first. The API is a stand-in,
// only as much of one as kubectl needs to write and read a ConfigMap; what is
// captured is what kubectl says.
func discover(w http.ResponseWriter, r *http.Request) bool {
	answers := map[string]string{
		"/api":    `{"kind":"APIVersions","versions":["v1"]}`,
		"/apis":   `{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`,
		"/api/v1": `{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"configmaps","singularName":"configmap","namespaced":true,"kind":"ConfigMap","verbs":["create","delete","get","list","patch","update","watch"]}]}`,
	}
	body, ok := answers[r.URL.Path]
	if ok {
		w.Header().Set("Content-Type", "application/json")
		w.Write([]byte(body))
	}
	return ok
}

func status(w http.ResponseWriter, code int, reason, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	json.NewEncoder(w).Encode(map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "message": message, "code": code})
}

// dies is an API server that goes away once it has answered its nth request by
// a method for an object.
func dies(method string, n int64) string {
	l, port := listen()
	var seen atomic.Int64
	server := &http.Server{}
	server.SetKeepAlivesEnabled(false)
	server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if discover(w, r) {
			return
		}
		if r.Method == method && seen.Add(1) == n {
			l.Close() // what comes after this answer meets nobody
		}
		name := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.Method == http.MethodGet && method != http.MethodDelete:
			status(w, 404, "NotFound", `configmaps "`+name+`" not found`)
		case r.Method == http.MethodPost:
			w.WriteHeader(http.StatusCreated)
			w.Write([]byte(manifest("a")))
		default:
			w.Write([]byte(strings.Replace(manifest("a"), `"metadata":{`, `"metadata":{"uid":"1",`, 1)))
		}
	})
	go server.Serve(l)
	return port
}
