package wasmfile

// ValueType is a parameter's or result's type, as the binary format numbers it.
type ValueType byte

// The value types that a plugin's functions have.
const (
	I32 ValueType = 0x7f
	I64 ValueType = 0x7e
)

// FuncType is a function's signature.
type FuncType struct{ Params, Results []ValueType }

// Kind is what an import or export is.
type Kind byte

// The kinds.
const (
	Func   Kind = 0
	Memory Kind = 2
)
