// Package drivers_test has the tests of the packages beside it: what becomes of a read
// and of a write when the real server is away, refuses, or is killed. Waits are on a
// virtual clock. docs/databases.md has the table of it.
package drivers_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"outlast/abi"
	"outlast/host"
	"outlast/host/virtual"
	"outlast/httpattempt"
)

// away is how long a trouble lasts.
const away = 6 * time.Second

// client asks a server, as programs use it.
type client struct {
	attempt      func(func(context.Context) error) httpattempt.Attempt
	exec         func(statement string) func(context.Context) error
	read, write  func(context.Context) error
	applyAndWait func(context.Context) error // a write whose answer does not come
	close        func()
}

// how is a column of the table.
type how struct{ write, only bool }

var columns = []how{{}, {write: true}, {true, true}}

func call(t *testing.T, c how, f httpattempt.Attempt, clock host.Clock) string {
	task := &host.Task{Call: host.Call{Remote: true, Read: !c.write}, OnlyRequest: c.only, Attempt: f, Clock: clock}
	_, err := plugin.Run(t.Context(), task)
	if failed := new(host.CallError); errors.As(err, &failed) {
		return string(failed.Outcome.Type)
	}
	if err != nil {
		return err.Error()
	}
	return "ok"
}

// play is what a call comes to, by a client that is made in the trouble.
func play(s *server, make func(*server) *client, in trouble, c how) string {
	before := s.count()
	end := in.begin(s)
	client := make(s)
	defer client.close()
	clock, over := &virtual.Clock{}, false
	ended := call(s.t, c, client.attempt(func(ctx context.Context) error {
		if clock.Now() >= away && !over {
			over = true
			end()
		}
		return client.ask(ctx, c)
	}), clock)
	if over {
		ended += ", rode it out"
	} else {
		end()
	}
	return s.told(c, before, ended)
}

func (c *client) ask(ctx context.Context, h how) error {
	if h.write {
		return c.write(ctx)
	}
	return c.read(ctx)
}

func (s *server) told(c how, before int, ended string) string {
	if c.write {
		return fmt.Sprintf("%d, %s", s.count()-before, ended)
	}
	return ended
}

// playKilled is the same of a call whose server is killed when its first attempt has
// been applied, and is back at the second one.
func playKilled(s *server, make func(*server) *client, c how) string {
	before := s.count()
	client := make(s)
	defer client.close()
	n := 0
	ended := call(s.t, c, client.attempt(func(ctx context.Context) error {
		if n++; n > 1 {
			if s.running == nil {
				s.start()
			}
			return client.ask(ctx, c)
		}
		answer := goes(func() error { return client.applyAndWait(ctx) })
		s.until(func() error {
			now, err := s.applied()
			if err == nil && now == before {
				err = errors.New("not applied")
			}
			return err
		})
		s.kill()
		return <-answer
	}), &virtual.Clock{})
	if s.running == nil {
		s.start()
	}
	return s.told(c, before, ended)
}

func goes(f func() error) <-chan error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	return done
}

// table plays all troubles with a client, and wants the page to say so.
func table(s *server, name string, make func(*server) *client, troubles ...trouble) {
	var rows strings.Builder
	row := func(what string, played func(how) string) {
		fmt.Fprintf(&rows, "| %s |", what)
		for _, c := range columns {
			fmt.Fprintf(&rows, " %s |", played(c))
		}
		rows.WriteByte('\n')
	}
	for _, in := range troubles {
		row(in.name, func(c how) string { return play(s, make, in, c) })
	}
	row("killed, after the write", func(c how) string { return playKilled(s, make, c) })
	want := "<!-- " + name + " -->\n" + heads + rows.String() + "<!-- end -->\n"
	page, err := os.ReadFile("../docs/databases.md")
	if err != nil || !strings.Contains(string(page), want) {
		s.t.Errorf("docs/databases.md should have\n%s", want)
	}
}

const heads = "| what happens | read: outcome | write: applied, outcome | write, `OnlyRequest`: applied, outcome |\n| --- | --- | --- | --- |\n"

// own wants what a statement raises to be the program's own, though it looks like a
// refusal: a write is made once, and in doubt.
func own(t *testing.T, c *client, f func(context.Context) error) {
	defer c.close()
	n := 0
	ended := call(t, how{true, true}, c.attempt(func(ctx context.Context) error {
		n++
		return f(ctx)
	}), &virtual.Clock{})
	if n != 1 || ended != string(abi.OutcomeIndeterminate) {
		t.Errorf("%d attempts, %s", n, ended)
	}
}

// Each package names the version of its client that is tried here.
func TestVersions(t *testing.T) {
	module, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{
		"pgxattempt": "github.com/jackc/pgx/v5", "mysqlattempt": "github.com/go-sql-driver/mysql", "grpcattempt": "google.golang.org/grpc",
	} {
		_, version, _ := strings.Cut(string(module), "\t"+path+" v")
		version, _, _ = strings.Cut(version, "\n")
		source, err := os.ReadFile(name + "/" + name + ".go")
		if err != nil || !strings.Contains(string(source), version) {
			t.Errorf("%s does not name %s", name, version)
		}
	}
}
