//go:build wasip1

package main

import (
	"runtime"

	pdk "github.com/extism/go-pdk"
)

//go:wasmexport outlast_abi_1
func marker() {}

//go:wasmexport describe
func exportDescribe() int32 { return answer(describe) }

//go:wasmexport check
func exportCheck() int32 { return answer(check) }

//go:wasmexport decide
func exportDecide() int32 { return answer(decide) }

//go:wasmexport run
func exportRun() int32 {
	return answer(func(input string) ([]byte, error) { return run(input, caller) })
}

// caller is the host that calls. A plugin for tests puts another in its place.
var caller host = extismHost{}

// answer runs one export. It returns 0 whatever happens, since hosts differ in
// what they make of another code; what went wrong is in the envelope.
func answer(export func(string) ([]byte, error)) int32 {
	pdk.Output(enveloped(export, pdk.InputString()))
	// Without this the collector never ends a cycle: no other goroutine runs
	// between calls, and memory that calls leave behind piles up.
	runtime.Gosched()
	return 0
}

//go:wasmimport extism:host/user outlast_now
func outlastNow(offset uint64) uint64

//go:wasmimport extism:host/user outlast_sleep
func outlastSleep(offset uint64) uint64

//go:wasmimport extism:host/user outlast_attempt
func outlastAttempt(offset uint64) uint64

// extismHost is the host behind Extism's calling convention.
type extismHost struct{}

func (extismHost) now() string                { return ask(outlastNow, []byte("{}")) }
func (extismHost) sleep(action []byte) string { return ask(outlastSleep, action) }
func (extismHost) attempt(a []byte) string    { return ask(outlastAttempt, a) }

// ask calls a host function and frees both blocks. "" means that it failed:
// offset 0 is tested first, because Extism's JavaScript kernel has a block there.
func ask(function func(uint64) uint64, input []byte) string {
	in := pdk.AllocateBytes(input)
	offset := function(in.Offset())
	in.Free()
	if offset == 0 {
		return ""
	}
	out := pdk.FindMemory(offset)
	text := string(out.ReadBytes())
	out.Free()
	return text
}
