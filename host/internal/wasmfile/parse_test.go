package wasmfile_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"outlast/host/internal/wasmfile"
	"outlast/host/internal/wasmfile/wasmtest"
)

func u(n uint64) []byte { return wasmtest.Uint(nil, n) }

func raw(sections ...[]byte) []byte {
	return append([]byte("\x00asm\x01\x00\x00\x00"), bytes.Join(sections, nil)...)
}

func section(id byte, payload ...byte) []byte { return wasmtest.Section(nil, id, payload) }

func TestParseReadsWhatAModuleDeclares(t *testing.T) {
	i32, i64, f64 := wasmfile.I32, wasmfile.I64, wasmfile.F64
	m := &wasmtest.Module{
		Types: []wasmfile.FuncType{
			{},
			{Params: []wasmfile.ValueType{i32, i64}, Results: []wasmfile.ValueType{f64}},
		},
		Imports: []wasmtest.Import{
			{Module: "m", Name: "memory", Kind: wasmfile.Memory, Desc: []byte{1, 1, 2}},
			{Module: "m", Name: "table", Kind: wasmfile.Table, Desc: []byte{0x70, 0, 1}},
			{Module: "m", Name: "global", Kind: wasmfile.Global, Desc: []byte{0x7f, 0}},
			{Module: "m", Name: "f", Kind: wasmfile.Func, Type: 1},
		},
		Funcs: []wasmtest.Func{{Type: 0}},
		Exports: []wasmtest.Export{
			{Name: "imported", Index: 0}, {Name: "own", Index: 1}, {Name: "memory", Kind: wasmfile.Memory},
		},
		Sections: section(0, append(wasmtest.Name(nil, "producers"), 1, 2, 3)...),
	}
	got, err := wasmfile.Parse(m.Encode())
	if err != nil {
		t.Fatal(err)
	}
	want := &wasmfile.Module{
		Types: m.Types,
		Imports: []wasmfile.Import{
			{Module: "m", Name: "memory", Kind: wasmfile.Memory},
			{Module: "m", Name: "table", Kind: wasmfile.Table},
			{Module: "m", Name: "global", Kind: wasmfile.Global},
			{Module: "m", Name: "f", Type: m.Types[1]},
		},
		Funcs: []uint32{0},
		Exports: []wasmfile.Export{
			{Name: "imported", Type: m.Types[1]}, {Name: "own", Type: m.Types[0]}, {Name: "memory", Kind: wasmfile.Memory},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestParseNamesTheFault(t *testing.T) {
	oneType := section(1, 1, 0x60, 0, 0)
	oneFunc := section(3, 1, 0)
	oneBody := section(10, 1, 2, 0, 0x0b)
	for _, test := range []struct {
		name string
		wasm []byte
		want string
	}{
		{"empty", nil, "at byte 0: the file: it is empty"},
		{"text", []byte("(module)"), `not a Wasm file: it starts with "(mod"`},
		{"short text", []byte("{}"), `not a Wasm file: it starts with "{}"`},
		{"half a magic", []byte("\x00as"), "at byte 3: the file: truncated"},
		{"half a header", []byte("\x00asm\x01\x00"), "at byte 6: the file: truncated"},
		{"component", []byte("\x00asm\x0d\x00\x01\x00"), "it is a component; a core module is needed"},
		{"version", []byte("\x00asm\x02\x00\x00\x00"), "the version is 02 00 00 00"},
		{"section number", raw([]byte{99, 0}), "at byte 8: the file: there is no section 99"},
		{"no size", raw([]byte{1}), "at byte 9: type section: truncated: a byte is missing"},
		{"endless size", raw([]byte{1, 0x80, 0x80, 0x80, 0x80, 0x80}), "a number is longer than 32 bits"},
		{"size over 32 bits", raw([]byte{1, 0xff, 0xff, 0xff, 0xff, 0x1f}), "a number is longer than 32 bits"},
		{"size past the end", raw([]byte{2, 200, 1, 0}), "at byte 11: import section: truncated: 200 bytes are announced, 1 are left"},
		{"custom past the end", raw([]byte{0, 5, 1}), "custom section: truncated: 5 bytes"},
		{"twice", raw(oneType, oneType), "type section: it is there twice"},
		{"too many types", raw(section(1, u(1<<31)...)), "truncated: 2147483648 entries are announced"},
		{"type form", raw(section(1, 1, 0x5f, 0)), "type 0 has the form 0x5f"},
		{"value type", raw(section(1, 1, 0x60, 1, 0x64, 0)), "the type 0x64, which is not known"},
		{"left over", raw(section(1, 1, 0x60, 0, 0, 7, 7)), "type section: 2 bytes are left over"},
		{"import of an unknown type", raw(section(2, 1, 0, 0, 0, 5)), "type 5 is used, there are only 0"},
		{"import of an unknown kind", raw(section(2, 1, 0, 1, 'x', 9)), `import "x" has the kind 9`},
		{"limits", raw(section(2, 1, 0, 0, 2, 0x80, 1)), "limits have the flags 0x80"},
		{"name past the end", raw(section(2, 1, 50, 'a')), "truncated: 50 bytes are announced, 1 are left"},
		{"name not UTF-8", raw(section(2, 1, 1, 0xff, 0, 0, 0)), "a name is not UTF-8"},
		{"function of an unknown type", raw(oneType, section(3, 1, 1)), "type 1 is used, there are only 1"},
		{"export of an unknown function", raw(section(7, 1, 1, 'f', 0, 3)), "function 3 is exported, there are only 0"},
		{"export of an unknown kind", raw(section(7, 1, 1, 'f', 8, 0)), `export "f" has the kind 8`},
		{"exported twice", raw(section(7, 2, 1, 'm', 2, 0, 1, 'm', 2, 0)), `"m" is exported twice`},
		{"no code", raw(oneType, oneFunc), "truncated: 1 functions are announced, the code section has 0"},
		{"code without functions", raw(oneBody), "0 functions are announced, the code section has 1"},
		{"empty code", raw(oneType, oneFunc, section(10)), "code section: truncated: a byte is missing"},
		{"too many tables", raw(section(4, u(1<<32-1)...)), "table section: truncated: 4294967295 entries are announced"},
		{"too many elements", raw(section(9, u(1<<31)...)), "element section: truncated: 2147483648 entries"},
		{"too much data", raw(section(11, u(1<<31)...)), "data section: truncated: 2147483648 entries"},
		{"no data", raw(section(12, 2)), "truncated: 2 pieces of data are announced, the data section has 0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := wasmfile.Parse(test.wasm)
			var format *wasmfile.FormatError
			if !errors.As(err, &format) || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("error = %v, want a FormatError with %q", err, test.want)
			}
			if format.Offset > len(test.wasm) {
				t.Errorf("the fault is at byte %d of %d", format.Offset, len(test.wasm))
			}
		})
	}
}

// TestParseBoundsWhatItAllocates: a count of two thousand million entries in a
// file of a few bytes costs nothing.
func TestParseBoundsWhatItAllocates(t *testing.T) {
	wasm := raw(section(1, u(1<<31-1)...), section(3, u(1<<31-1)...))
	if n := testing.AllocsPerRun(10, func() { wasmfile.Parse(wasm) }); n > 100 {
		t.Errorf("%v allocations", n)
	}
}
