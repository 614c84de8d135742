package diskcache

import "golang.org/x/sys/cpu"

// cpuFeatures are the properties of the processor that wazero compiles for,
// each a bit: SSE 4.1, BMI1 and LZCNT on amd64, large atomics on arm64. wazero
// puts the same into its own keys, so that code which needs an instruction is
// not found where that is missing.
func cpuFeatures() uint64 {
	var bits uint64
	for i, has := range []bool{
		cpu.X86.HasSSE41,
		cpu.X86.HasBMI1,
		cpu.X86.HasBMI1 && cpu.X86.HasBMI2 && cpu.X86.HasPOPCNT,
		cpu.ARM64.HasATOMICS,
	} {
		if has {
			bits |= 1 << i
		}
	}
	return bits
}
