package atstart

import (
	"bytes"
	"encoding/binary"
	"os"
	"strconv"
	"sync"
	"syscall"
	"unsafe"
)

// record reads what the runtime keeps of the start in two variables of its own.
// They are found by the program's symbols: the linker lets nobody else name them.
var record = sync.OnceValue(func() (f found) {
	if strconv.IntSize != 64 {
		return f
	}
	exe, err := os.Open("/proc/self/exe")
	if err != nil {
		return f
	}
	defer exe.Close()
	info, err := exe.Stat()
	if err != nil {
		return f
	}
	file, err := syscall.Mmap(int(exe.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_PRIVATE)
	if err != nil {
		return f
	}
	defer syscall.Munmap(file)
	kept := symbol{name: ActionsSymbol + "\x00", size: uint64(unsafe.Sizeof(f.actions))}
	mask := symbol{name: MaskSymbol + "\x00", size: uint64(unsafe.Sizeof(f.mask))}
	find(file, &kept, &mask)
	if kept.at == 0 || mask.at == 0 {
		return f
	}
	f.known = true
	f.actions = *(*actions)(pointer(kept.at))
	for _, s := range []syscall.Signal{syscall.SIGCONT, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU} {
		f.actions[s] = uintptr(ignoredNow() >> (s - 1) & 1)
	}
	f.mask = *(*uint64)(pointer(mask.at))
	return f
})

// ignoredNow is the set of ignored signals: of those that the runtime leaves alone
// until they are asked for, it is as at the start.
var ignoredNow = sync.OnceValue(func() uint64 {
	status, _ := os.ReadFile("/proc/self/status")
	_, set, _ := bytes.Cut(status, []byte("\nSigIgn:\t"))
	set, _, _ = bytes.Cut(set, []byte("\n"))
	n, _ := strconv.ParseUint(string(set), 16, 64)
	return n
})

// pointer is to a variable of this program, which never moves.
func pointer(address uint64) unsafe.Pointer {
	return *(*unsafe.Pointer)(unsafe.Pointer(&address))
}

// What of the ELF format is needed: elf(5), 64 bits. debug/elf reads all symbols
// into memory, which takes ten times as long.
const (
	headerSize, sectionSize, symbolSize = 64, 64, 24

	executable = 2 // ET_EXEC: a program that stands where its symbols say
	symtab     = 2 // SHT_SYMTAB
)

// symbol is one of the program's; at is 0 where there is none.
type symbol struct {
	name     string // with the byte that ends it
	size, at uint64
}

// find looks for symbols in a program's file. It is at every start, so it looks
// at names only where the size is right.
func find(file []byte, wanted ...*symbol) {
	order := binary.NativeEndian
	if len(file) < headerSize || !bytes.HasPrefix(file, []byte("\x7fELF\x02")) || order.Uint16(file[16:]) != executable {
		return
	}
	table := order.Uint64(file[40:])
	section := func(n uint64) []byte { return part(file, table+n*sectionSize, sectionSize) }
	content := func(s []byte) []byte { return part(file, order.Uint64(s[24:]), order.Uint64(s[32:])) }
	for n := range uint64(order.Uint16(file[60:])) {
		s := section(n)
		if s == nil || order.Uint32(s[4:]) != symtab {
			continue
		}
		names := section(uint64(order.Uint32(s[40:])))
		if names == nil {
			return
		}
		text := content(names)
		for all := content(s); len(all) >= symbolSize; all = all[symbolSize:] {
			size := order.Uint64(all[16:])
			for _, w := range wanted {
				if size == w.size && string(part(text, uint64(order.Uint32(all)), uint64(len(w.name)))) == w.name {
					w.at = order.Uint64(all[8:])
				}
			}
		}
	}
}

// part is nil if b has no such part.
func part(b []byte, at, size uint64) []byte {
	if at > uint64(len(b)) || size > uint64(len(b))-at {
		return nil
	}
	return b[at : at+size]
}
