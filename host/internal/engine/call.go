package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/sys"
)

// Call calls an export with an input, and gives a copy of its output. A nil
// host is for the exports that call nothing back. It does not look at ctx
// itself: a plugin still decides about a call that was cancelled.
//
// A plugin that fails gives a *CallError and poisons the instance. Any other
// error means that nothing was called: ErrClosed, ErrBusy, ErrPoisoned, or no
// such export.
func (i *Instance) Call(ctx context.Context, export string, input []byte, h Host) (output []byte, err error) {
	if err := i.begin(); err != nil {
		return nil, err
	}
	sound := false
	defer func() { i.end(sound) }()
	f, err := i.function(export)
	if err != nil {
		sound = true
		return nil, err
	}
	if err := i.memory.Reset(input); err != nil {
		sound = true
		return nil, err
	}
	i.said.reset()
	r := &running{ctx: ctx, host: h, memory: i.memory}
	start := time.Now()
	results, err := f.Call(context.WithValue(ctx, runningKey{}, r))
	i.engine.interpreted(i.program, time.Since(start)-r.away)
	if r.panicked {
		panic(r.value)
	}
	output, err = i.judge(export, results, err)
	sound = err == nil
	return output, err
}

// function finds an export that takes nothing and returns a code.
func (i *Instance) function(export string) (api.Function, error) {
	if f, ok := i.functions[export]; ok {
		return f, nil
	}
	f := i.module.ExportedFunction(export)
	if f == nil {
		return nil, fmt.Errorf("outlast: calling the plugin: it has no export %q", export)
	}
	d := f.Definition()
	if len(d.ParamTypes()) != 0 || !slices.Equal(d.ResultTypes(), []api.ValueType{api.ValueTypeI32}) {
		return nil, fmt.Errorf("outlast: calling the plugin: its export %q does not have the signature () -> i32", export)
	}
	i.functions[export] = f
	return f, nil
}

// judge takes the output of a call that went well.
func (i *Instance) judge(export string, results []uint64, err error) ([]byte, error) {
	if err != nil {
		return nil, i.failure(export, err)
	}
	if code := api.DecodeU32(results[0]); code != 0 {
		return nil, &CallError{Export: export, Fault: FaultCode, Code: code, Detail: i.detail()}
	}
	if text, ok := i.memory.Error(); ok {
		return nil, &CallError{Export: export, Fault: FaultError, Detail: clip(text)}
	}
	output, ok := i.memory.Output()
	if !ok {
		return nil, &CallError{Export: export, Fault: FaultNoOutput, Detail: i.detail()}
	}
	return output, nil
}

// failure describes a call that did not return.
func (i *Instance) failure(export string, err error) error {
	var exit *sys.ExitError
	if errors.As(err, &exit) {
		return &CallError{Export: export, Fault: FaultExit, Code: exit.ExitCode(), Detail: i.detail()}
	}
	return &CallError{Export: export, Fault: FaultTrap, Err: firstLine{err}, Detail: i.detail()}
}

// detail is what the plugin had to say: the error that it set, else what it
// printed.
func (i *Instance) detail() string {
	if text, ok := i.memory.Error(); ok {
		return clip(text)
	}
	return i.said.String()
}
