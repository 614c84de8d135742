// Package plugin carries the compiled plugin, and the module of its memory, for
// hosts written in Go. build.sh makes outlast.wasm from plugin/guest and
// kernel.wasm from plugin/kernel; CI compares the bytes.
package plugin

import _ "embed"

// Wasm is the plugin: a WebAssembly module by the contract in abi/ABI.md.
//
//go:embed outlast.wasm
var Wasm []byte

// SHA256 is the digest of Wasm in hexadecimal digits and a line end, as
// build.sh recorded it.
//
//go:embed outlast.wasm.sha256
var SHA256 string

// Kernel is extism:host/env as a WebAssembly module: the memory that the plugin
// shares with its host. plugin/kernel/kernel.wat says how a host uses it.
//
//go:embed kernel.wasm
var Kernel []byte
