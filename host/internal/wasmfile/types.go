package wasmfile

import "strings"

// ValueType is a parameter's or result's type, as the binary format numbers it.
type ValueType byte

// The value types of WebAssembly 2.0.
const (
	I32       ValueType = 0x7f
	I64       ValueType = 0x7e
	F32       ValueType = 0x7d
	F64       ValueType = 0x7c
	V128      ValueType = 0x7b
	FuncRef   ValueType = 0x70
	ExternRef ValueType = 0x6f
)

var valueTypeNames = map[ValueType]string{
	I32: "i32", I64: "i64", F32: "f32", F64: "f64", V128: "v128", FuncRef: "funcref", ExternRef: "externref",
}

func (t ValueType) String() string {
	if name, ok := valueTypeNames[t]; ok {
		return name
	}
	return "unknown"
}

// FuncType is a function's signature.
type FuncType struct {
	Params, Results []ValueType
}

// String is the signature as "(i32, i64) -> i32"; no result is "()".
func (t FuncType) String() string {
	return typeList(t.Params, true) + " -> " + typeList(t.Results, len(t.Results) != 1)
}

func typeList(types []ValueType, brackets bool) string {
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = t.String()
	}
	s := strings.Join(names, ", ")
	if brackets {
		return "(" + s + ")"
	}
	return s
}

// Kind is what an import or export is.
type Kind byte

// The kinds.
const (
	Func   Kind = 0
	Table  Kind = 1
	Memory Kind = 2
	Global Kind = 3
	Tag    Kind = 4
)

func (k Kind) String() string {
	names := [...]string{"function", "table", "memory", "global", "tag"}
	if int(k) < len(names) {
		return names[k]
	}
	return "unknown"
}
