package engine

import (
	"context"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// interpreting is an engine that interprets, with an instance, and what it tells of
// later loads.
func interpreting(t *testing.T, wasm []byte, root fs.FS) (*Engine, *Instance, chan Loaded) {
	t.Helper()
	memoryRoot = root
	t.Cleanup(func() { memoryRoot = os.DirFS("/") })
	told := make(chan Loaded, 2)
	e := New(Options{Wasm: wasm, OnLoad: func(l Loaded) { told <- l }})
	t.Cleanup(func() { e.Close(context.Background()) })
	i := newInstance(t, e)
	if l := <-told; l.How != Interpreted {
		t.Fatalf("first it is %v", l.How)
	}
	return e, i, told
}

// unlimited is a system without control groups.
var unlimited = fstest.MapFS{}

// Interpreting that has taken as long as compiling does has the plugin compiled,
// once. Instances that are there go on, and what interprets is freed with the last.
func TestCompiledOnceItPays(t *testing.T) {
	e, before, told := interpreting(t, small(0), unlimited)
	e.spent.Store(0)
	e.interpreted(before.program, compilePays-1)
	if e.compiling.Load() || before.Outdated() {
		t.Fatal("it is compiled before that pays")
	}
	e.spent.Store(int64(compilePays))
	if _, err := before.Call(t.Context(), "decide", []byte("x"), nil); err != nil { // which counts
		t.Fatal(err)
	}
	if l := <-told; l.How != Compiled || l.Why != "" || l.Took <= 0 {
		t.Fatalf("then it is %+v", l)
	}
	after := newInstance(t, e)
	if !before.Outdated() || after.Outdated() || after.program.how != Compiled {
		t.Errorf("outdated: %t, and the new one: %t", before.Outdated(), after.Outdated())
	}
	if out, err := before.Call(t.Context(), "decide", []byte("x"), nil); err != nil || len(out) != 1 {
		t.Errorf("the instance from before: %q, %v", out, err)
	}
	if e.retired != before.program {
		t.Error("what interprets was freed under an instance")
	}
	before.Close(t.Context())
	if e.retired != nil {
		t.Error("what interprets was not freed with its last instance")
	}
	e.interpreted(after.program, time.Hour)
	answer(t, e)
	select {
	case l := <-told:
		t.Errorf("it is loaded again: %+v", l)
	default:
	}
}

// What an engine leaves behind is freed with it.
func TestClosedWithAnInstanceThatInterprets(t *testing.T) {
	e, before, told := interpreting(t, small(0), unlimited)
	e.interpreted(before.program, compilePays)
	<-told
	if err := e.Close(t.Context()); err != nil || e.retired != nil {
		t.Errorf("%v, %v", err, e.retired)
	}
}

// A call's time is the plugin's own: what the host's methods take does not count.
func TestWaitsAreNotInterpreting(t *testing.T) {
	e, i, _ := interpreting(t, guestWasm(t), unlimited)
	before := e.spent.Load()
	h := &scripted{sleep: func(context.Context) []byte {
		time.Sleep(300 * time.Millisecond)
		return []byte("slept")
	}}
	start := time.Now()
	if _, err := i.Call(t.Context(), "run", []byte("x"), h); err != nil {
		t.Fatal(err)
	}
	if spent := time.Duration(e.spent.Load() - before); spent <= 0 || spent > time.Since(start)-300*time.Millisecond {
		t.Errorf("%v of interpreting in %v", spent, time.Since(start))
	}
}

// Where compiling would pass the memory limit, or cannot be, the plugin stays
// interpreted, says why, and is not tried again.
func TestNotCompiledWhereMemoryIsShort(t *testing.T) {
	short := fstest.MapFS{
		"proc/self/cgroup":                 {Data: []byte("0::/pod\n")},
		"sys/fs/cgroup/pod/memory.max":     {Data: []byte("67108864\n")},
		"sys/fs/cgroup/pod/memory.current": {Data: []byte("10485760\n")},
	}
	e, i, told := interpreting(t, small(0), short)
	e.interpreted(i.program, compilePays)
	if l := <-told; l.How != Interpreted || l.Why != "the memory limit leaves 54 MiB, and compiling the plugin takes 160" {
		t.Errorf("%+v", l)
	}
	if i.Outdated() {
		t.Error("the instance is outdated by nothing")
	}
	withoutCompiler(t)
	e, i, told = interpreting(t, small(0), unlimited)
	e.interpreted(i.program, compilePays)
	if l := <-told; l.How != Interpreted || !strings.Contains(l.Why, "permission denied") {
		t.Errorf("%+v", l)
	}
	answer(t, e)
}

// Modes that say how are obeyed.
func TestOtherModesStay(t *testing.T) {
	for _, mode := range []Mode{Interpreter, Compiler} {
		e, _ := open(t, Options{Wasm: small(0), Mode: mode})
		i := newInstance(t, e)
		e.interpreted(i.program, time.Hour)
		if e.compiling.Load() {
			t.Errorf("mode %d", mode)
		}
	}
}
