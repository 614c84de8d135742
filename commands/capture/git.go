//go:build unix

package main

import (
	"net/http"
	"net/http/cgi"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func git(s *stage) {
	port, hang := closed(), s.hangsUp()
	run := func(args ...string) {
		cmd := exec.Command("git", args...)
		cmd.Dir = s.dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			panic(string(out))
		}
	}
	run("init", "-q", "-b", "main", "work")
	run("-C", "work", "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", "one")
	run("init", "-q", "--bare", "srv/r.git")
	run("-C", "srv/r.git", "config", "http.receivepack", "true")
	push := func(to string, more ...string) []string {
		return append(append([]string{"git", "-C", "work", "push"}, more...), to, "main")
	}
	at := func(port string) string { return "http://127.0.0.1:" + port + "/r.git" }
	over := func(scheme, port string) string { return scheme + "://127.0.0.1:" + port + "/r.git" }
	for _, c := range []scene{
		{name: "git-refused", argv: []string{"git", "ls-remote", at(port)}, happened: "nobody listens", kind: "unavailable"},
		{name: "git-push-refused", argv: push(at(port)), happened: "nobody listens", kind: "unavailable"},
		{name: "git-fetch-refused", argv: []string{"git", "-C", "work", "fetch", at(port)}, happened: "nobody listens", kind: "unavailable"},
		{name: "git-clone-refused", argv: []string{"git", "clone", at(port), "c"}, happened: "nobody listens", kind: "unavailable"},
		{name: "git-clone-bare-refused", argv: []string{"git", "clone", "--bare", at(port), "c"}, happened: "nobody listens", kind: "unavailable"},
		{name: "git-unresolved", argv: []string{"git", "ls-remote", "http://" + unresolvable + "/r.git"}, happened: "the name does not resolve", kind: "unresolved"},
		{name: "git-clone-unresolved", argv: []string{"git", "clone", "http://" + unresolvable + "/r.git", "c"}, happened: "the name does not resolve", kind: "unresolved"},
		{name: "git-ssh-refused", argv: []string{"git", "ls-remote", over("ssh", port)}, happened: "nobody listens", kind: "unavailable"},
		{name: "git-ssh-push-refused", argv: push(over("ssh", port)), happened: "nobody listens", kind: "unavailable"},
		{name: "git-ssh-clone-refused", argv: []string{"git", "clone", over("ssh", port), "c"}, happened: "nobody listens", kind: "unavailable"},
		{name: "git-ssh-unresolved", argv: []string{"git", "ls-remote", "ssh://" + unresolvable + "/r.git"}, happened: "the name does not resolve", kind: "unresolved"},
		{name: "git-ssh-hangs-up", argv: []string{"git", "ls-remote", over("ssh", hang)}, happened: "the connection is closed before either side has spoken", kind: "unavailable"},
		{name: "git-git-refused", argv: []string{"git", "ls-remote", over("git", port)}, happened: "nobody listens", kind: "unavailable"},
		{name: "git-git-clone-refused", argv: []string{"git", "clone", over("git", port), "c"}, happened: "nobody listens", kind: "unavailable"},
		{name: "git-git-unresolved", argv: []string{"git", "ls-remote", "git://" + unresolvable + "/r.git"}, happened: "the name does not resolve", kind: "unresolved"},
		{name: "git-hangs-up", argv: []string{"git", "ls-remote", at(hang)}, happened: "the connection is closed at once", kind: "failed"},
		{name: "git-german-refused", argv: []string{"git", "ls-remote", at(port)}, env: []string{"LANGUAGE=de"}, happened: "nobody listens; git speaks German where its translations are installed", kind: "failed"},
		{name: "git-no-repository", argv: []string{"git", "-C", "work", "push", "nowhere", "main"}, happened: "there is no such remote", kind: "failed"},
	} {
		if c.name == "git-german-refused" && !germanGit(port) {
			continue
		}
		s.play(c)
	}
	gitServers(s, port, run, push, at)
}

// gitServers are failures of servers that are there, and pushes that were made.
func gitServers(s *stage, port string, run func(...string), push func(string, ...string) []string, at func(string) string) {
	backend := &cgi.Handler{Path: gitExec() + "/git-http-backend", Stderr: quiet.Writer(),
		Env: []string{"GIT_PROJECT_ROOT=" + s.dir + "/srv", "GIT_HTTP_EXPORT_ALL=1"}}
	real := s.web(backend.ServeHTTP)
	fails := s.web(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(http.StatusServiceUnavailable)
		w.Write([]byte("fatal: unable to access 'x': Failed to connect to h port 1\n"))
	})
	// Its listener goes away after it has said what it has.
	l, dying := listen()
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/info/refs") {
			w.Header().Set("Connection", "close")
			backend.ServeHTTP(w, r)
			l.Close()
		}
	})}
	go server.Serve(l)
	s.cleanup = append(s.cleanup, func() { server.Close() })
	hook := filepath.Join(s.dir, "srv/r.git/hooks/pre-receive")
	check(os.WriteFile(hook, []byte("#!/bin/sh\necho \"fatal: unable to access 'http://h/': Failed to connect to h port 1\" >&2\nexit 1\n"), 0o755))
	for _, c := range []scene{
		{name: "git-http-503", argv: []string{"git", "ls-remote", at(fails)}, happened: "the server answers 503, with the words of a failed connection", kind: "failed"},
		{name: "git-http-503-clone", argv: []string{"git", "clone", at(fails), "c"}, happened: "likewise", kind: "failed"},
		{name: "git-not-found", argv: []string{"git", "ls-remote", strings.Replace(at(real), "r.git", "none.git", 1)}, happened: "there is no such repository", kind: "failed"},
		{name: "git-hook-refuses", argv: push(at(real)), happened: "a hook of the server's refused, with the words of a failed connection", kind: "failed"},
		{name: "git-dies-before-push", argv: push(at(dying)), happened: "the server was gone after it had said what it has", kind: "failed"},
	} {
		s.play(c)
	}
	check(os.Remove(hook))
	run("-C", "work", "config", "remote.both.url", at(real))
	run("-C", "work", "config", "--add", "remote.both.pushurl", at(real))
	run("-C", "work", "config", "--add", "remote.both.pushurl", at(port))
	s.play(scene{name: "git-second-push-refused", argv: []string{"git", "-C", "work", "push", "-q", "both", "main"}, applied: true, happened: "the first of two destinations got the push", kind: "unavailable"})
	mirror := filepath.Join(s.dir, "work/.git/hooks/pre-push")
	check(os.WriteFile(mirror, []byte("#!/bin/sh\ngit ls-remote "+at(port)+"\nexit 0\n"), 0o755))
	run("-C", "work", "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", "two")
	check(os.WriteFile(hook, []byte("#!/bin/sh\nexit 1\n"), 0o755))
	s.play(scene{name: "git-own-hook-refused", argv: push(at(real)), happened: "a hook of the user's could not connect, and the server refused the push", kind: "failed"})
}

func gitExec() string {
	out, err := exec.Command("git", "--exec-path").Output()
	check(err)
	return strings.TrimSpace(string(out))
}

func germanGit(port string) bool {
	cmd := exec.Command("git", "ls-remote", "http://127.0.0.1:"+port+"/")
	cmd.Env = append(os.Environ(), "LANGUAGE=de")
	out, _ := cmd.CombinedOutput()
	return !strings.HasPrefix(string(out), "fatal:")
}
