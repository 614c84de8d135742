// Command trim takes the symbols out of a program for Linux that Go's linker wrote,
// but for the two that package atstart reads: a fifteenth of the file.
//
//	trim PROGRAM
package main

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"

	"outlast/process/atstart"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: trim PROGRAM")
		os.Exit(2)
	}
	if err := trimFile(os.Args[1]); err != nil {
		fmt.Fprintf(os.Stderr, "trim: %s: %v\n", os.Args[1], err)
		os.Exit(1)
	}
}

func trimFile(path string) error {
	program, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if program, err = trim(program, atstart.ActionsSymbol, atstart.MaskSymbol); err != nil {
		return err
	}
	return os.WriteFile(path, program, 0o755)
}

// trim is the program with these symbols only.
func trim(program []byte, names ...string) ([]byte, error) {
	file, err := elf.NewFile(bytes.NewReader(program))
	if err != nil {
		return nil, err
	}
	// The linker writes the three last and in this order, behind all that is loaded.
	tail := len(file.Sections) - 3
	if file.Class != elf.ELFCLASS64 || tail < 0 || !slices.Equal(namesOf(file.Sections[tail:]), []string{".symtab", ".strtab", ".shstrtab"}) {
		return nil, errors.New("it does not end as a program of 64 bits that Go's linker wrote with its symbols")
	}
	symbols, strings, err := tables(file, names)
	if err != nil {
		return nil, err
	}
	sectionNames, err := file.Sections[tail+2].Data()
	if err != nil {
		return nil, err
	}
	end := file.Sections[tail].Offset
	program = program[:end]
	for i, content := range [][]byte{symbols, strings, sectionNames} {
		// A section's header has its offset at 24, its size at 32 and, for the
		// symbols, the first one that is not local at 44: elf(5).
		header := program[sectionHeader(file, program, tail+i):]
		file.ByteOrder.PutUint64(header[24:], uint64(len(program)))
		file.ByteOrder.PutUint64(header[32:], uint64(len(content)))
		if i == 0 {
			file.ByteOrder.PutUint32(header[44:], 1)
		}
		program = append(program, content...)
	}
	return program, nil
}

func namesOf(sections []*elf.Section) (names []string) {
	for _, s := range sections {
		names = append(names, s.Name)
	}
	return names
}

// sectionHeader is where a section's header is. The linker writes them first.
func sectionHeader(file *elf.File, program []byte, n int) uint64 {
	return file.ByteOrder.Uint64(program[40:]) + uint64(n)*64
}

// tables are a symbol table of these names, and its strings.
func tables(file *elf.File, names []string) (symbols, strings []byte, err error) {
	all, err := file.Symbols()
	if err != nil {
		return nil, nil, err
	}
	var out bytes.Buffer
	strings = []byte{0}
	out.Write(make([]byte, elf.Sym64Size)) // the first is none
	for _, name := range names {
		i := slices.IndexFunc(all, func(s elf.Symbol) bool { return s.Name == name })
		if i < 0 || elf.ST_BIND(all[i].Info) != elf.STB_GLOBAL {
			return nil, nil, fmt.Errorf("it has no global symbol %s", name)
		}
		s := all[i]
		err := binary.Write(&out, file.ByteOrder, elf.Sym64{
			Name: uint32(len(strings)), Info: s.Info, Other: s.Other, Shndx: uint16(s.Section), Value: s.Value, Size: s.Size,
		})
		if err != nil {
			return nil, nil, err
		}
		strings = append(append(strings, name...), 0)
	}
	return out.Bytes(), strings, nil
}
