package wasmfile

const typeFunc = 0x60 // begins a function's type

func (m *Module) readTypes(r *reader) {
	r.list(func() {
		if form := r.byte(); form != typeFunc && r.fault == nil {
			r.fail("type %d has the form 0x%02x; only functions (0x60) are known", len(m.Types), form)
		}
		t := FuncType{Params: readValueTypes(r), Results: readValueTypes(r)}
		m.Types = append(m.Types, t)
	})
}

func readValueTypes(r *reader) []ValueType {
	var types []ValueType
	r.list(func() { types = append(types, readValueType(r)) })
	return types
}

func readValueType(r *reader) ValueType {
	t := ValueType(r.byte())
	if _, ok := valueTypeNames[t]; !ok && r.fault == nil {
		r.fail("a value has the type 0x%02x, which is not known", byte(t))
	}
	return t
}

func (m *Module) readImports(r *reader) {
	r.list(func() {
		i := Import{Module: r.name(), Name: r.name(), Kind: Kind(r.byte())}
		switch i.Kind {
		case Func:
			i.Type = m.typeAt(r, r.u32())
		case Table:
			readValueType(r)
			skipLimits(r)
		case Memory:
			skipLimits(r)
		case Global:
			readValueType(r)
			r.byte() // mutable or not
		case Tag:
			r.byte() // an attribute that is always 0
			m.typeAt(r, r.u32())
		default:
			r.fail("import %q has the kind %d, which is not known", clip(i.Name), byte(i.Kind))
		}
		m.Imports = append(m.Imports, i)
	})
}

// skipLimits passes over the bounds of a table or memory.
func skipLimits(r *reader) {
	const hasMax, wide, known = 1, 4, 1 | 2 | 4 // 2: shared
	flags := r.byte()
	if flags&^known != 0 {
		r.fail("limits have the flags 0x%02x, which are not known", flags)
		return
	}
	bits := 32
	if flags&wide != 0 {
		bits = 64
	}
	r.leb(bits)
	if flags&hasMax != 0 {
		r.leb(bits)
	}
}

func (m *Module) readFuncs(r *reader) {
	r.list(func() {
		index := r.u32()
		m.typeAt(r, index)
		m.Funcs = append(m.Funcs, index)
	})
}

func (m *Module) readExports(r *reader) {
	imported := m.importedTypes()
	seen := map[string]bool{}
	r.list(func() {
		e := Export{Name: r.name(), Kind: Kind(r.byte())}
		index := r.u32()
		if r.fault != nil {
			return
		}
		if seen[e.Name] {
			r.fail("%q is exported twice", clip(e.Name))
			return
		}
		seen[e.Name] = true
		if e.Kind > Tag {
			r.fail("export %q has the kind %d, which is not known", clip(e.Name), byte(e.Kind))
			return
		}
		if e.Kind == Func {
			e.Type = m.funcAt(r, imported, index)
		}
		m.Exports = append(m.Exports, e)
	})
}

// typeAt is the type with the given index.
func (m *Module) typeAt(r *reader, index uint32) FuncType {
	if uint64(index) >= uint64(len(m.Types)) {
		r.fail("type %d is used, there are only %d", index, len(m.Types))
		return FuncType{}
	}
	return m.Types[index]
}

func (m *Module) importedTypes() []FuncType {
	var types []FuncType
	for _, i := range m.Imports {
		if i.Kind == Func {
			types = append(types, i.Type)
		}
	}
	return types
}

// funcAt is the type of the function with the given index: imported ones are
// counted first.
func (m *Module) funcAt(r *reader, imported []FuncType, index uint32) FuncType {
	if uint64(index) < uint64(len(imported)) {
		return imported[index]
	}
	local := uint64(index) - uint64(len(imported))
	if local >= uint64(len(m.Funcs)) {
		r.fail("function %d is exported, there are only %d", index, len(imported)+len(m.Funcs))
		return FuncType{}
	}
	return m.typeAt(r, m.Funcs[local])
}

// maxQuoted bounds a name from the file in an error (a choice).
const maxQuoted = 64

// clip shortens a name from the file for an error.
func clip(name string) string {
	if len(name) <= maxQuoted {
		return name
	}
	return name[:maxQuoted] + "…"
}
