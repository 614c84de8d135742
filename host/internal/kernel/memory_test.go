package kernel

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestAllocEdges(t *testing.T) {
	for _, length := range []uint64{0, MaxBytes, MaxBytes + 1, 1 << 40, 1 << 62, 1 << 63, 1<<63 + 100, ^uint64(0)} {
		var m Memory
		if got := m.alloc(length); got != 0 {
			t.Errorf("alloc(%d) = %d, want 0", length, got)
		}
	}
	var m Memory
	a, b := m.alloc(13), m.alloc(1)
	if a == 0 || b == 0 || a == b {
		t.Fatalf("alloc gave %d and %d, want two different offsets", a, b)
	}
	if got := m.length(a); got != 13 {
		t.Errorf("length = %d, want 13", got)
	}
	for _, offset := range []uint64{0, a + 1, b - 1, b + 1, 1 << 40, ^uint64(0)} {
		if got := m.length(offset); got != 0 {
			t.Errorf("length(%d) = %d, want 0: it is no block", offset, got)
		}
	}
}

func TestAllocIsBoundedAndRecovers(t *testing.T) {
	var m Memory
	var offsets []uint64
	for offset := m.alloc(1 << 20); offset != 0; offset = m.alloc(1 << 20) {
		offsets = append(offsets, offset)
	}
	if got := len(offsets); got != MaxBytes>>20-1 { // the start of memory takes the last one's room
		t.Errorf("%d blocks of 1 MiB fitted, want %d", got, MaxBytes>>20-1)
	}
	m.release(offsets[0])
	if got := m.alloc(1 << 20); got != offsets[0] {
		t.Errorf("alloc after free = %d, want the freed %d", got, offsets[0])
	}
	if got := m.alloc(1 << 20); got != 0 {
		t.Errorf("alloc when full = %d, want 0", got)
	}
}

func TestFreedBlocksAreReusedClean(t *testing.T) {
	var m Memory
	a := m.Store([]byte("0123456789abcdef"))
	m.release(a + 1) // no block: left alone
	if got := string(m.Block(a)); got != "0123456789abcdef" {
		t.Fatalf("block = %q after freeing a sub-offset", got)
	}
	m.release(a)
	m.release(a) // twice
	if got := m.Block(a); got != nil {
		t.Errorf("a freed block = %q, want nothing", got)
	}
	b, c := m.alloc(9), m.alloc(9)
	if b != a || c == a {
		t.Errorf("alloc gave %d and %d, want the freed %d once", b, c, a)
	}
	if got := m.Block(b); !bytes.Equal(got, make([]byte, 9)) {
		t.Errorf("a reused block reads as %q, want zeros", got)
	}
}

// TestManyAttempts is what run does: one block an attempt, freed when it has
// been read. Memory must not grow with their number.
func TestManyAttempts(t *testing.T) {
	var m Memory
	for i := range 10_000 {
		offset := m.Store(bytes.Repeat([]byte{byte(i)}, 60<<10+i%100))
		if offset == 0 {
			t.Fatalf("no room at attempt %d", i)
		}
		m.release(offset)
	}
	if got := cap(m.data); got > 1<<20 {
		t.Errorf("memory grew to %d bytes", got)
	}
}

func TestBoundsOfLoadsAndStores(t *testing.T) {
	var m Memory
	a := m.Store(bytes.Repeat([]byte{0xff}, 8))
	end := uint64(len(m.data))
	for _, offset := range []uint64{0, 1, firstOffset - 1, firstOffset - 7, end - 7, end, 1 << 32, 1<<32 + a, ^uint64(0), ^uint64(0) - 6} {
		m.storeU64(offset, 1)
		if got := m.loadU64(offset); got != 0 {
			t.Errorf("load_u64(%d) = %#x, want 0", offset, got)
		}
	}
	for _, offset := range []uint64{0, firstOffset - 1, end, 1 << 32, ^uint64(0)} {
		m.storeU8(offset, 1)
		if got := m.loadU8(offset); got != 0 {
			t.Errorf("load_u8(%d) = %#x, want 0", offset, got)
		}
	}
	if got := m.loadU64(a); got != ^uint64(0) {
		t.Errorf("a store out of bounds changed the block to %#x", got)
	}
	m.storeU8(a+7, 0x12)
	if got, want := m.loadU64(a), uint64(0x12ffffffffffffff); got != want {
		t.Errorf("load_u64 = %#x, want %#x", got, want)
	}
}

func TestInput(t *testing.T) {
	var m Memory
	m.Reset([]byte("0123456789"))
	for offset, want := range map[uint64]byte{0: '0', 9: '9', 10: 0, 1 << 63: 0, ^uint64(0): 0} {
		if got := m.inputU8(offset); got != want {
			t.Errorf("input_load_u8(%d) = %d, want %d", offset, got, want)
		}
	}
	for offset, want := range map[uint64]uint64{2: 0x3938373635343332, 3: 0, 10: 0, 11: 0, ^uint64(0) - 3: 0, ^uint64(0): 0} {
		if got := m.inputU64(offset); got != want {
			t.Errorf("input_load_u64(%d) = %#x, want %#x", offset, got, want)
		}
	}
}

func TestOutput(t *testing.T) {
	var m Memory
	if out, ok := m.Output(); ok {
		t.Fatalf("output = %q before any was set", out)
	}
	a := m.Store([]byte("0123456789"))
	room := uint64(len(m.data)) - a
	steps := []struct {
		offset, length uint64
		want           string // "" for none
	}{
		{a, 10, "0123456789"},
		{a + 3, 4, "3456"},
		{0, 5, "3456"}, // out of bounds: the old output stays
		{1 << 40, 5, "3456"},
		{a + room, 1, "3456"},
		{a, room, "0123456789" + string(make([]byte, room-10))}, // its length is not checked against the block
		{a, room + 1, ""}, // but against the memory
		{a, ^uint64(0), ""},
		{a, 0, ""},
		{a + 9, 1, "9"},
	}
	for _, s := range steps {
		m.setOutput(s.offset, s.length)
		out, ok := m.Output()
		if string(out) != s.want || ok != (s.want != "") {
			t.Errorf("after output_set(%d, %d) the output is %q, %v; want %q", s.offset, s.length, out, ok, s.want)
		}
	}
	out, _ := m.Output()
	m.storeU8(a+9, 'x')
	if string(out) != "9" {
		t.Error("the output is not a copy")
	}
}

func TestError(t *testing.T) {
	var m Memory
	a := m.Store([]byte("went wrong"))
	for _, s := range []struct {
		offset uint64
		want   string
	}{{a, "went wrong"}, {1 << 40, "went wrong"}, {a + 1, ""}, {a, "went wrong"}, {0, ""}} {
		m.setError(s.offset)
		if got, ok := m.Error(); string(got) != s.want || ok != (s.want != "") {
			t.Errorf("after error_set(%d) the error is %q, %v; want %q", s.offset, got, ok, s.want)
		}
	}
	m.setError(a)
	m.release(a)
	if got, ok := m.Error(); ok {
		t.Errorf("the error is %q although its block was freed", got)
	}
}

func TestResetForgets(t *testing.T) {
	var m Memory
	a := m.Store([]byte("secret"))
	m.setOutput(a, 6)
	m.setError(a)
	m.Reset([]byte("in"))
	if _, ok := m.Output(); ok {
		t.Error("the output survived")
	}
	if _, ok := m.Error(); ok {
		t.Error("the error survived")
	}
	if m.length(a) != 0 || m.loadU8(a) != 0 {
		t.Error("the block survived")
	}
	if b := m.alloc(6); !bytes.Equal(m.Block(b), make([]byte, 6)) {
		t.Errorf("a fresh block reads as %q", m.Block(b))
	}
}

func TestResetKeepsOnlyAModestBuffer(t *testing.T) {
	var m Memory
	m.alloc(1 << 20)
	kept := cap(m.data)
	m.Reset(nil)
	if cap(m.data) != kept {
		t.Errorf("Reset dropped a buffer of %d bytes", kept)
	}
	m.alloc(9 << 20)
	m.Reset(nil)
	if cap(m.data) != 0 {
		t.Errorf("Reset kept a buffer of %d bytes", cap(m.data))
	}
}

// TestBlocksNeverOverlap allocates and frees at random and checks that each
// live block keeps its contents.
func TestBlocksNeverOverlap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var m Memory
		live := map[uint64][]byte{}
		for i := range rapid.IntRange(1, 200).Draw(t, "steps") {
			if len(live) > 0 && rapid.Bool().Draw(t, "free") {
				for offset := range live {
					m.release(offset)
					delete(live, offset)
					break
				}
				continue
			}
			data := bytes.Repeat([]byte{byte(i + 1)}, rapid.IntRange(1, 5000).Draw(t, "length"))
			offset := m.Store(data)
			if _, taken := live[offset]; taken || offset == 0 {
				t.Fatalf("Store gave the offset %d", offset)
			}
			live[offset] = data
		}
		for offset, data := range live {
			if diff := cmp.Diff(data, m.Block(offset)); diff != "" {
				t.Fatalf("block %d changed (-want +got):\n%s", offset, diff)
			}
		}
	})
}
