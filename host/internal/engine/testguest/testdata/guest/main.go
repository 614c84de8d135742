//go:build wasip1

// Command guest is a plugin that misbehaves on request. It has everything that
// a plugin of the ABI has, and one export for each way to fail.
package main

import (
	"errors"
	"os"
	"runtime"

	"github.com/extism/go-pdk"
)

//go:wasmimport extism:host/user outlast_now
func hostNow(uint64) uint64

//go:wasmimport extism:host/user outlast_sleep
func hostSleep(uint64) uint64

//go:wasmimport extism:host/user outlast_attempt
func hostAttempt(uint64) uint64

func main() {}

// started counts the calls of one instance.
var started int

//go:wasmexport outlast_abi_1
func marker() int32 { return 0 }

//go:wasmexport describe
func describe() int32 {
	pdk.OutputString(`{"v":1,"ok":{"version":"test"}}`)
	return 0
}

//go:wasmexport check
func check() int32 { return echo() }

//go:wasmexport decide
func decide() int32 { return echo() }

//go:wasmexport echo
func echo() int32 {
	defer runtime.Gosched() // lets the collector finish its cycles
	pdk.Output(pdk.Input())
	return 0
}

// run asks each host function once, with the input, and answers what they
// answered, one a line; "failed" for offset 0.
//
//go:wasmexport run
func run() int32 {
	defer runtime.Gosched()
	input := pdk.Input()
	answer := func(f func(uint64) uint64) string {
		in := pdk.AllocateBytes(input)
		defer in.Free()
		offset := f(in.Offset())
		if offset == 0 {
			return "failed"
		}
		out := pdk.FindMemory(offset)
		defer out.Free()
		return string(out.ReadBytes())
	}
	pdk.OutputString(answer(hostNow) + "\n" + answer(hostSleep) + "\n" + answer(hostAttempt))
	return 0
}

// attempts asks for as many attempts as the input has bytes.
//
//go:wasmexport attempts
func attempts() int32 {
	for i, n := uint64(0), uint64(len(pdk.Input())); i < n; i++ {
		offset := hostAttempt(0)
		if offset == 0 {
			return 1
		}
		mem := pdk.FindMemory(offset)
		mem.Free()
	}
	return echo()
}

// count answers how often this instance was called.
//
//go:wasmexport count
func count() int32 {
	started++
	pdk.Output([]byte{byte('0' + started)})
	return 0
}

// prints writes to standard error and succeeds.
//
//go:wasmexport prints
func prints() int32 {
	println(pdk.InputString())
	return echo()
}

//go:wasmexport panics
func panics() int32 { panic("guest panics: " + pdk.InputString()) }

//go:wasmexport unreachable
func unreachable() int32 {
	var p *int
	return int32(*p)
}

//go:wasmexport exits
func exits() int32 {
	os.Exit(3)
	return 0
}

//go:wasmexport exits_cleanly
func exitsCleanly() int32 {
	pdk.OutputString("bye")
	os.Exit(0)
	return 0
}

//go:wasmexport code7
func code7() int32 {
	pdk.OutputString("an output that does not count")
	return 7
}

//go:wasmexport sets_error
func setsError() int32 {
	pdk.SetError(errors.New("guest error: " + pdk.InputString()))
	return 0
}

//go:wasmexport silent
func silent() int32 { return 0 }

// hungry allocates until its memory is full.
//
//go:wasmexport hungry
func hungry() int32 {
	for {
		hoard = append(hoard, make([]byte, 1<<20))
		hoard[len(hoard)-1][0] = 1
	}
}

var hoard [][]byte

// deep recurses until its stack is full.
//
//go:wasmexport deep
func deep() int32 { return down([64]int{}) }

func down(a [64]int) int32 {
	a[started&63]++
	return down(a) + int32(a[0])
}

//go:wasmexport deadlock
func deadlock() int32 {
	<-make(chan int)
	return 0
}

// with_parameter has a signature that no host calls.
//
//go:wasmexport with_parameter
func withParameter(n int32) int32 { return n }
