package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"

	"outlast/abi"
	"outlast/host/internal/engine"
	"outlast/plugin"
)

// Plugin is a plugin that calls are driven with. It may be used by any number
// of goroutines.
type Plugin struct {
	engine *engine.Engine
	source string
	native bool                  // the code that it is compiled from decides, and it is loaded for RunInPlugin only
	slots  chan struct{}         // bounds the instances that decide at one time
	idle   chan *engine.Instance // between decisions
	loaded chan Loaded           // how it was loaded, for the call that caused it

	once   bool
	crowd  crowd // of calls in Run
	around []Middleware

	asked sync.Once // for its version of the contract
	minor int64     // 0 where it could not be had
}

// embedded is the source of the plugin that comes with this package.
const embedded = "embedded plugin"

// Option changes what Open does.
type Option func(*options)

type options struct {
	wasm   []byte
	source string
	mode   engine.Mode
	once   bool
	around []Middleware
	err    error
}

// WithFile opens another plugin than the embedded one.
func WithFile(path string) Option {
	return func(o *options) {
		o.source = path
		o.wasm, o.err = readPlugin(path)
	}
}

// maxPlugin bounds a plugin file (a choice, over twenty times the embedded one).
const maxPlugin = 64 << 20

func readPlugin(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	wasm, err := io.ReadAll(io.LimitReader(file, maxPlugin+1))
	if err == nil && len(wasm) > maxPlugin {
		err = fmt.Errorf("is longer than the %d bytes that a plugin may have", maxPlugin)
	}
	return wasm, err
}

// WithInterpreter executes the plugin, also the embedded one for a decision, and
// never compiles it: for systems that forbid executable memory, where it is chosen
// anyway, and for tests.
func WithInterpreter() Option {
	return func(o *options) { o.mode = engine.Interpreter }
}

// WithCompiler executes the plugin, also the embedded one for a decision, and
// compiles it when it is loaded, which takes half a second and some 70 MiB
// (measured). It suits servers, which start once.
func WithCompiler() Option {
	return func(o *options) { o.mode = engine.Compiler }
}

// Open opens the embedded plugin, or the one of WithFile, whose exports and
// imports are compared with the contract, which takes some 7 ms. The error is a
// *PluginError.
//
// The embedded plugin is compiled from Go code that this package links. Without
// another option that code makes the decisions of Run and of sessions, and
// WebAssembly is loaded for RunInPlugin only. Any other plugin is loaded at the
// first failure of a call and interpreted. Once a second has gone into interpreting,
// the plugin is compiled in the background, unless the memory limit of the process's
// control group leaves less than 160 MiB for that.
func Open(opts ...Option) (*Plugin, error) {
	o := options{wasm: plugin.Wasm, source: embedded}
	for _, opt := range opts {
		opt(&o)
	}
	if o.err == nil && o.source != embedded {
		o.err = engine.Verify(o.wasm)
	}
	if o.err != nil {
		return nil, &PluginError{Doing: "opening plugin " + o.source, Err: o.err}
	}
	// As many instances as there are processors keep them all busy deciding.
	n := runtime.GOMAXPROCS(0)
	p := &Plugin{
		source: o.source,
		once:   o.once,
		around: o.around,
		native: o.source == embedded && o.mode == engine.Auto,
		slots:  make(chan struct{}, n),
		idle:   make(chan *engine.Instance, n),
		loaded: make(chan Loaded, 1),
	}
	p.engine = engine.New(engine.Options{Wasm: o.wasm, Mode: o.mode, OnLoad: p.onLoad})
	return p, nil
}

func (p *Plugin) onLoad(l engine.Loaded) {
	p.drain(context.Background()) // of instances that interpret what is compiled now
	select {
	case p.loaded <- Loaded{How: l.How.String(), Why: l.Why, Took: l.Took}:
	default:
	}
}

// reportLoad tells the call that caused it how the plugin was loaded.
func (p *Plugin) reportLoad(t *Task) {
	select {
	case l := <-p.loaded:
		t.observe(l)
	default:
	}
}

// WarmUp loads the plugin, compiled unless WithInterpreter was given, and lets it
// decide once. It is for a long-lived program's start: a plugin that cannot be
// used shows there, and not in the first outage. Compiling takes half a second and
// some 70 MiB (measured). Where the linked code decides, as Open says, nothing is
// loaded; a program that calls RunInPlugin opens the plugin WithCompiler. The error
// is a *PluginError.
func (p *Plugin) WarmUp(ctx context.Context) error {
	if !p.native {
		if err := p.engine.Compile(ctx); err != nil {
			return &PluginError{Doing: "warming up plugin " + p.source, Err: err}
		}
	}
	known, err := BuiltIn("omnigraph") // which every plugin has
	if err == nil {
		_, err = p.Explain(ctx, known, Call{Seed: new(int64)}, abi.Result{})
	}
	return err
}

// Describe is what the plugin says of itself. It loads the plugin.
func (p *Plugin) Describe(ctx context.Context) (d abi.Description, err error) {
	err = p.with(ctx, func(i *engine.Instance) error {
		out, err := i.Call(ctx, abi.ExportDescribe, nil, nil)
		if err == nil {
			d, err = abi.DecodeDescription(string(out))
		}
		return err
	})
	if err != nil {
		err = &PluginError{Doing: "describing plugin " + p.source, Err: err}
	}
	return d, err
}

// driver drives a task with this plugin.
func (p *Plugin) driver(t *Task) *driver {
	return &driver{task: t, crowd: &p.crowd, once: p.once, knows: p.knows}
}

// The minor versions of the contract that added what a host must not send to an
// older plugin.
const (
	minorDown     = 1
	minorNotReady = 2
	minorClaims   = 2 // the call's one_request and repeatable
	minorRequests = 3 // what was seen of a request: failure, only_request, and the call's refuses_before_acting
)

// knows says whether the plugin has a minor version of the contract. A plugin from
// a file is asked once.
func (p *Plugin) knows(ctx context.Context, minor int64) bool {
	if p.source == embedded {
		return true
	}
	p.asked.Do(func() {
		if d, err := p.Describe(context.WithoutCancel(ctx)); err == nil {
			p.minor = d.ABI.Minor
		}
	})
	return p.minor >= minor
}

// told is the call in words that the plugin knows. Plugins before 1.2 have no words
// for a write that must not be repeated on what was printed, or may be repeated in
// doubt: with them such a call ends with its first failure.
func (p *Plugin) told(ctx context.Context, call *abi.Call) error {
	if call.RefusesBeforeActing && !p.knows(ctx, minorRequests) {
		call.RefusesBeforeActing = false
	}
	several := call.OneRequest != nil && !*call.OneRequest
	if (call.OneRequest == nil && !call.Repeatable) || p.knows(ctx, minorClaims) {
		return nil
	}
	if call.Write && (several || call.Repeatable) {
		return fmt.Errorf("the plugin %s is of contract 1.%d, which has no word for a write that is repeatable or may make several requests: use one of 1.%d or later", p.source, p.minor, minorClaims)
	}
	call.OneRequest, call.Repeatable = nil, false
	return nil
}

// toldOf is the event in words that the plugin knows. One before 1.3 has none for
// what was seen of a request, and goes by the other members of the result.
func (p *Plugin) toldOf(ctx context.Context, e abi.Event) abi.Event {
	if e.Result == nil || e.Result.Failure == "" && !e.Result.OnlyRequest || p.knows(ctx, minorRequests) {
		return e
	}
	known := *e.Result
	known.Failure, known.OnlyRequest = "", false
	if known.OK() && !e.Result.OK() {
		known.HTTPStatus = nil
	}
	e.Result = &known
	return e
}

// Close frees the plugin. No call may be under way.
func (p *Plugin) Close(ctx context.Context) error {
	p.drain(ctx)
	return p.engine.Close(ctx)
}

// drain closes the instances that are between decisions.
func (p *Plugin) drain(ctx context.Context) {
	for {
		select {
		case i := <-p.idle:
			i.Close(ctx)
		default:
			return
		}
	}
}

// with lends use one of the shared instances. An instance that fails is thrown
// away, since what it holds can no longer be trusted, and so is one that interprets
// what is compiled by now.
func (p *Plugin) with(ctx context.Context, use func(*engine.Instance) error) error {
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-p.slots }()
	instance, err := p.take(ctx)
	if err != nil {
		return err
	}
	err = use(instance)
	if err != nil && !isAnswer(err) || instance.Poisoned() || instance.Outdated() {
		instance.Close(ctx)
		return err
	}
	p.idle <- instance // has room for one instance a slot
	return err
}

func (p *Plugin) take(ctx context.Context) (*engine.Instance, error) {
	select {
	case i := <-p.idle:
		return i, nil
	default:
		return p.engine.NewInstance(ctx)
	}
}

// isAnswer says whether err is what a sound plugin answered, not a fault of it.
func isAnswer(err error) bool {
	var answer *abi.Error
	return errors.As(err, &answer) && answer.Code != abi.CodeInternal
}
