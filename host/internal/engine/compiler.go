package engine

import (
	"runtime"

	"github.com/tetratelabs/wazero"
	"golang.org/x/sys/cpu"
)

// newCompilerConfig is a variable for the tests of systems without a compiler.
var newCompilerConfig newRuntimeConfig = compilerConfig

// compilerConfig asks for wazero's compiler, and panics as wazero does where
// there is none. wazero itself would compile for a processor that lacks what
// the code needs, and then run it.
func compilerConfig() wazero.RuntimeConfig {
	if !canCompile(runtime.GOARCH, cpu.X86.HasSSE41) {
		panic("wazero has no compiler for this processor")
	}
	return wazero.NewRuntimeConfigCompiler()
}

func canCompile(processor string, sse41 bool) bool {
	return processor == "arm64" || processor == "amd64" && sse41
}
