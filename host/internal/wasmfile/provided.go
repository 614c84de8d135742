package wasmfile

import "outlast/abi"

// Names of the modules that a host provides besides abi.UserModule.
const (
	KernelModule = "extism:host/env"
	WASIModule   = "wasi_snapshot_preview1"
)

// provided has the signature of everything that a plugin may import.
var provided = map[string]map[string]string{
	KernelModule: {
		"alloc":          "(i64) -> i64",
		"free":           "(i64) -> ()",
		"length":         "(i64) -> i64",
		"load_u8":        "(i64) -> i32",
		"load_u64":       "(i64) -> i64",
		"store_u8":       "(i64, i32) -> ()",
		"store_u64":      "(i64, i64) -> ()",
		"input_length":   "() -> i64",
		"input_load_u8":  "(i64) -> i32",
		"input_load_u64": "(i64) -> i64",
		"output_set":     "(i64, i64) -> ()",
		"error_set":      "(i64) -> ()",
	},
	abi.UserModule: {
		abi.HostNow:     "(i64) -> i64",
		abi.HostSleep:   "(i64) -> i64",
		abi.HostAttempt: "(i64) -> i64",
	},
	WASIModule: wasi,
}
