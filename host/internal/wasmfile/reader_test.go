package wasmfile

import (
	"math"
	"testing"
)

func TestLEB(t *testing.T) {
	for _, test := range []struct {
		name string
		data []byte
		bits int
		want uint64
		ok   bool
	}{
		{"zero", []byte{0}, 32, 0, true},
		{"one byte", []byte{0x7f}, 32, 127, true},
		{"two bytes", []byte{0xe5, 0x01}, 32, 229, true},
		{"padded", []byte{0x80, 0x80, 0x80, 0x80, 0x00}, 32, 0, true},
		{"largest", []byte{0xff, 0xff, 0xff, 0xff, 0x0f}, 32, math.MaxUint32, true},
		{"a bit too much", []byte{0xff, 0xff, 0xff, 0xff, 0x1f}, 32, 0, false},
		{"a byte too much", []byte{0x80, 0x80, 0x80, 0x80, 0x80, 0x00}, 32, 0, false},
		{"cut", []byte{0x80}, 32, 0, false},
		{"largest of 64", []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}, 64, math.MaxUint64, true},
		{"a bit too much of 64", []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02}, 64, 0, false},
	} {
		r := &reader{data: test.data, what: "test"}
		got := r.leb(test.bits)
		if got != test.want || (r.fault == nil) != test.ok {
			t.Errorf("%s: %d, %v", test.name, got, r.fault)
		}
		if test.ok && r.left() != 0 {
			t.Errorf("%s: %d bytes are left", test.name, r.left())
		}
	}
}

func TestTheFirstFaultSticks(t *testing.T) {
	r := &reader{data: []byte{5}, start: 100, what: "test"}
	r.bytes(r.u32())
	first := r.fault
	if r.byte() != 0 || r.u32() != 0 || r.bytes(1) != nil || r.name() != "" {
		t.Error("a reader with a fault gives something")
	}
	if r.end() != first || first.(*FormatError).Offset != 101 {
		t.Errorf("the fault is %v, was %v", r.end(), first)
	}
}
