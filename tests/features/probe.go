package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"

	"outlast/abi"
	"outlast/host"
)

// errAway is what an attempt returns.
var errAway = errors.New("away")

// wish is what is asked of a library; the zero value is the library as it comes.
type wish struct {
	limit, wait, each time.Duration // of the call, between attempts, of an attempt
	attempts          int
	on                func(error) bool
	write             bool
}

type (
	work   func(context.Context) error
	caller func(context.Context, wish, work) error
)

// library is one that Go programs have.
type library struct {
	name, module string
	call         caller
	own          map[string]func() string // cells that are tried in a way of its own
	transport    func() http.RoundTripper
	slowly       func(url, policy string, do work) error // with 4 s between attempts
	document     func(policy string) string              // nil: it reads none
	typed        string                                  // what gives the text of a function, as a program has it
}

// tryGo tries the libraries that Go programs have.
func tryGo(url, policy string) []tried {
	var all []tried
	for _, l := range []library{failsafeGo, outlastGo} {
		cells := map[string]func() string{
			"clock": func() string {
				return yes(len(failing(l.call, wish{limit: 1200 * ms, wait: 500 * ms}, 1500*ms)) > 1)
			},
			"clamp":     func() string { return clamp(failing(l.call, wish{limit: 2 * time.Second, wait: 1200 * ms}, 0)) },
			"attempt":   func() string { return attempt(l.call) },
			"cancel":    func() string { return cancel(l.call) },
			"nested":    func() string { return nested(l.call) },
			"broke":     func() string { return applied(url, "/broke/", &l, nil) },
			"named":     func() string { return applied(url, "/broke/named-", &l, refused) },
			"moved":     func() string { return applied(url, "/moved/", &l, refused) },
			"after":     func() string { return after(url, &l) },
			"back":      func() string { return back(url, policy, l.slowly) },
			"generator": func() string { return "–" }, // an iter.Seq has no error
			"types":     func() string { return types(l.typed) },
			"needs":     func() string { return needs(l.module) },
		}
		if l.document != nil {
			cells["document"] = func() string { return l.document(policy) }
		}
		for row, cell := range l.own {
			cells[row] = cell
		}
		for _, r := range rows {
			if cell := cells[r.id]; cell != nil {
				all = append(all, tried{l.name, version(l.module), r.id, cell()})
			}
		}
	}
	return all
}

const ms = time.Millisecond

func yes(right bool) string {
	if right {
		return "yes"
	}
	return "no"
}

// failing is when each attempt began of a call that never succeeds and whose first
// attempt takes so long.
func failing(call caller, w wish, first time.Duration) (began []time.Time) {
	call(context.Background(), w, func(context.Context) error {
		began = append(began, time.Now())
		if len(began) == 1 {
			time.Sleep(first)
		}
		return errAway
	})
	return began
}

func clamp(began []time.Time) string {
	last := len(began) - 1
	switch {
	case began[last].Sub(began[0]) < 1900*ms:
		return "no: stops before it"
	case began[last].Sub(began[last-1]) < began[last-1].Sub(began[last-2])*8/10:
		return "yes"
	}
	return "no: goes on past it"
}

func attempt(call caller) string {
	times := 0
	err := call(context.Background(), wish{each: 300 * ms, wait: 10 * ms}, func(ctx context.Context) error {
		if times++; times > 1 {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Second):
			return nil
		}
	})
	return yes(err == nil && times == 2)
}

func cancel(call caller) string {
	ctx, giveUp := context.WithTimeout(context.Background(), 200*ms)
	defer giveUp()
	began := time.Now()
	failing(func(_ context.Context, w wish, do work) error { return call(ctx, w, do) }, wish{wait: 30 * time.Second}, 0)
	return yes(time.Since(began) < 10*time.Second)
}

func nested(call caller) string {
	times, three := 0, wish{attempts: 3, wait: ms}
	call(context.Background(), three, func(ctx context.Context) error {
		return call(ctx, three, func(context.Context) error {
			times++
			return errAway
		})
	})
	if times == 3 {
		return "yes"
	}
	return fmt.Sprintf("no: %d attempts", times)
}

func refused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }

// applied is how often a POST is applied, in at most three attempts.
func applied(url, path string, l *library, on func(error) bool) string {
	err := l.call(context.Background(), wish{attempts: 3, wait: ms, on: on, write: true}, func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, url+path+l.name, strings.NewReader("x"))
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		return response.Body.Close()
	})
	times, doubt := get(url+"/count"+path+l.name), ""
	if times == "1" {
		times = "once"
	} else {
		times += " times"
	}
	var failed *host.CallError
	if errors.As(err, &failed) && failed.Outcome.Type == abi.OutcomeIndeterminate {
		doubt = ", and named as in doubt"
	}
	return times + doubt
}

func after(url string, l *library) string {
	client := http.Client{Transport: l.transport()}
	response, err := client.Get(url + "/busy/" + l.name)
	if err != nil {
		return "no: " + err.Error()
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return "no"
	}
	gap, err := strconv.ParseFloat(get(url+"/gap/busy/"+l.name), 64)
	return yes(err == nil && gap > 0.95)
}

func get(url string) string {
	response, err := http.Get(url)
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	return string(text)
}

// version is that of a module that this program is linked with; "" is this checkout.
func version(module string) string {
	info, _ := debug.ReadBuildInfo()
	for _, m := range info.Deps {
		if m.Path == module && m.Replace == nil {
			return strings.TrimPrefix(m.Version, "v")
		}
	}
	return ""
}

// needs is how many other modules the packages of this one are built of.
func needs(module string) string {
	packages := map[string]string{
		failsafeGo.module: module + "/retrypolicy",
		outlastGo.module:  "outlast/retry",
	}
	out, err := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", packages[module]).Output()
	if err != nil {
		return err.Error()
	}
	modules := map[string]bool{}
	for _, line := range strings.Fields(string(out)) {
		modules[line] = true
	}
	delete(modules, module)
	return strconv.Itoa(len(modules))
}
