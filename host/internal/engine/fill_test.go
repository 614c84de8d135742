//go:build unix

package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"outlast/host/internal/engine/diskcache"
)

func TestFillCacheDoesNothingWhereItShouldNot(t *testing.T) {
	dir := cacheDir(t)
	report := func(f Filled) { t.Errorf("it was filled: %+v", f) }
	unloaded := New(Options{Wasm: small(0), CacheDir: dir, OnFill: report})
	unloaded.FillCache()
	unloaded.Close(t.Context())
	for _, opts := range []Options{
		{Mode: Interpreter, CacheDir: dir},
		{Mode: Auto},
		{Mode: Compiler},
	} {
		opts.Wasm, opts.OnFill = small(0), report
		e, _ := open(t, opts)
		e.FillCache()
		if err := e.Close(t.Context()); err != nil { // waits for what runs
			t.Error(err)
		}
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the cache directory was made")
	}
}

func TestFillCacheOncePerEngine(t *testing.T) {
	filled := make(chan Filled, 10)
	e, _ := open(t, Options{Wasm: small(0), CacheDir: cacheDir(t), OnFill: func(f Filled) { filled <- f }})
	for range 10 {
		e.FillCache()
	}
	if f := <-filled; f.Err != nil || f.Took <= 0 {
		t.Errorf("%+v", f)
	}
	e.FillCache()
	if err := e.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if len(filled) != 0 {
		t.Errorf("and again: %+v", <-filled)
	}
}

// TestFillCacheOfManyEngines: a hundred commands fail at once.
func TestFillCacheOfManyEngines(t *testing.T) {
	dir, wasm := cacheDir(t), small(200)
	filled := make(chan Filled, 100)
	var engines []*Engine
	for range 100 {
		e, loaded := open(t, Options{Wasm: wasm, CacheDir: dir, OnFill: func(f Filled) { filled <- f }})
		if loaded.How != Interpreted {
			t.Fatalf("%+v", loaded)
		}
		engines = append(engines, e)
	}
	for _, e := range engines {
		e.FillCache()
	}
	written := 0
	for range engines {
		switch f := <-filled; {
		case f.Err == nil:
			written++
		case !errors.Is(f.Err, diskcache.ErrBusy) && !errors.Is(f.Err, diskcache.ErrFilled):
			t.Errorf("%+v", f)
		}
	}
	if written != 1 {
		t.Errorf("the cache was filled %d times", written)
	}
	if e, loaded := open(t, Options{Wasm: wasm, CacheDir: dir}); loaded.How != Cached {
		t.Errorf("afterwards: %+v", loaded)
	} else {
		answer(t, e)
	}
}

func TestFillCacheTriesAgainWhereAnotherGaveUp(t *testing.T) {
	dir := cacheDir(t)
	if _, err := diskcache.Create(dir); err != nil {
		t.Fatal(err)
	}
	lock := flock.New(filepath.Join(dir, "lock"))
	if ok, err := lock.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	filled := make(chan Filled, 1)
	e, _ := open(t, Options{Wasm: small(0), CacheDir: dir, OnFill: func(f Filled) { filled <- f }})
	e.FillCache()
	if f := <-filled; !errors.Is(f.Err, diskcache.ErrBusy) {
		t.Errorf("while another fills: %+v", f)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	e.FillCache()
	if f := <-filled; f.Err != nil {
		t.Errorf("when the other has given up: %+v", f)
	}
}

// TestCloseEndsFilling: a user does not wait for a compilation at exit.
func TestCloseEndsFilling(t *testing.T) {
	dir := cacheDir(t)
	filled := make(chan Filled, 1)
	e, _ := open(t, Options{Wasm: small(20_000), CacheDir: dir, OnFill: func(f Filled) { filled <- f }})
	e.FillCache()
	for { // until it compiles
		temps, err := filepath.Glob(filepath.Join(dir, "*.tmp-*"))
		if err != nil {
			t.Fatal(err)
		}
		if len(temps) > 0 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if err := e.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if f := <-filled; !errors.Is(f.Err, context.Canceled) {
		t.Errorf("%+v", f)
	}
	if left := listing(t, dir); strings.Count(left, "\n") != 2 { // itself and the lock
		t.Errorf("it left\n%s", left)
	}
}

func init() {
	// A process that fails once, as a hundred commands at once do: it loads,
	// waits until all are there, and fills the cache.
	helpers["fill"] = func() int {
		filled := make(chan Filled, 1)
		e := New(Options{
			Wasm: small(200), CacheDir: os.Getenv("OUTLAST_ENGINE_TEST_DIR"),
			OnFill: func(f Filled) { filled <- f },
		})
		if err := e.Load(context.Background()); err != nil {
			fmt.Println(err)
			return 1
		}
		fmt.Println("loaded")
		os.Stdin.Read(make([]byte, 1))
		e.FillCache()
		switch f := <-filled; {
		case f.Err == nil:
			fmt.Println("filled")
		case errors.Is(f.Err, diskcache.ErrBusy), errors.Is(f.Err, diskcache.ErrFilled):
			fmt.Println("skipped")
		default:
			fmt.Println(f.Err)
		}
		return 0
	}
}

func TestFillCacheOfManyProcesses(t *testing.T) {
	const processes = 100
	dir := cacheDir(t)
	barrier, release, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer barrier.Close()
	var mu sync.Mutex
	var wg sync.WaitGroup
	said := map[string]int{}
	loaded := make(chan struct{}, processes)
	for range processes {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), helperVariable+"=fill", "OUTLAST_ENGINE_TEST_DIR="+dir)
		cmd.Stdin = barrier
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			var word string
			fmt.Fscanln(out, &word)
			loaded <- struct{}{}
			var end string
			fmt.Fscanln(out, &end)
			mu.Lock()
			said[word+" "+end]++
			mu.Unlock()
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
	for range processes {
		<-loaded
	}
	release.Close() // all of them read the end of it now
	wg.Wait()
	if said["loaded filled"] != 1 || said["loaded skipped"] != processes-1 {
		t.Errorf("the processes said %v", said)
	}
	if _, loaded := open(t, Options{Wasm: small(200), CacheDir: dir}); loaded.How != Cached {
		t.Errorf("afterwards: %+v", loaded)
	}
}

func init() {
	// A process that is over before it has compiled anything.
	helpers["brief"] = func() int {
		e := New(Options{Wasm: small(20_000), CacheDir: os.Getenv("OUTLAST_ENGINE_TEST_DIR")})
		if err := e.Load(context.Background()); err != nil {
			fmt.Println(err)
			return 1
		}
		e.FillCache()
		time.Sleep(time.Millisecond)
		return 0
	}
}

// Processes that end in the middle of filling the cache are in nobody's way: a
// later one fills it, and nothing of theirs stays.
func TestFillCacheAfterBriefProcesses(t *testing.T) {
	dir := cacheDir(t)
	var wg sync.WaitGroup
	for range 10 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), helperVariable+"=brief", "OUTLAST_ENGINE_TEST_DIR="+dir)
		wg.Go(func() {
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	wg.Wait()
	fill(t, small(0), dir)
	if left := listing(t, dir); strings.Contains(left, ".tmp-") {
		t.Errorf("they left\n%s", left)
	}
	if _, loaded := open(t, Options{Wasm: small(0), CacheDir: dir}); loaded.How != Cached {
		t.Errorf("afterwards: %+v", loaded)
	}
}
