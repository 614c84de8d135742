package wasmfile

import "testing"

func TestFuncTypeString(t *testing.T) {
	for want, f := range map[string]FuncType{
		"() -> ()":               {},
		"() -> i32":              {Results: []ValueType{I32}},
		"(i64) -> i64":           {Params: []ValueType{I64}, Results: []ValueType{I64}},
		"(i32, f64) -> ()":       {Params: []ValueType{I32, F64}},
		"(v128) -> (f32, i32)":   {Params: []ValueType{V128}, Results: []ValueType{F32, I32}},
		"(externref) -> funcref": {Params: []ValueType{ExternRef}, Results: []ValueType{FuncRef}},
		"(unknown) -> ()":        {Params: []ValueType{1}},
	} {
		if got := f.String(); got != want {
			t.Errorf("String() = %q, want %q", got, want)
		}
	}
}

func TestKindString(t *testing.T) {
	for kind, want := range map[Kind]string{Func: "function", Tag: "tag", 5: "unknown", 255: "unknown"} {
		if got := kind.String(); got != want {
			t.Errorf("Kind(%d) = %q, want %q", byte(kind), got, want)
		}
	}
}
