package engine

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"outlast/abi"
	"outlast/host/internal/kernel"
	"outlast/host/internal/wasmfile"
)

// AbiError says why a Wasm file is not a plugin that this host can run.
type AbiError struct {
	Problems []string // each one a sentence without its full stop
}

func (e *AbiError) Error() string {
	return "outlast: checking a plugin: " + strings.Join(e.Problems, "; ")
}

// Verify says whether the file is a plugin of this host's ABI. It asks the
// runtime about the file's outline, so that a bad file is named before a user's
// command has started, in a tenth of the time that compiling it takes. The error
// is an *AbiError with everything that is wrong, or what the runtime says of a
// file that is no whole Wasm module.
func Verify(wasm []byte) error {
	outline, err := wasmfile.Outline(wasm)
	if err != nil {
		return err
	}
	p, err := load(context.Background(), outline, wazero.NewRuntimeConfigInterpreter)
	if err != nil {
		return fmt.Errorf("outlast: checking a plugin: %w", err)
	}
	defer p.close()
	exports := p.compiled.ExportedFunctions()
	if exports[abi.ExportMarker] == nil {
		return &AbiError{Problems: []string{noMarker(exports)}}
	}
	if problems := append(checkExports(exports), p.checkImports()...); len(problems) > 0 {
		return &AbiError{Problems: problems}
	}
	return nil
}

// signature is a function's, as "(i32, i64) -> i32"; no result is "()".
func signature(d api.FunctionDefinition) string {
	results := typeNames(d.ResultTypes())
	if len(d.ResultTypes()) != 1 {
		results = "(" + results + ")"
	}
	return "(" + typeNames(d.ParamTypes()) + ") -> " + results
}

func typeNames(types []api.ValueType) string {
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = api.ValueTypeName(t)
	}
	return strings.Join(names, ", ")
}

// noMarker says which ABI the plugin speaks, if it speaks any: each has a marker
// with its number, as in outlast_abi_1.
func noMarker(exports map[string]api.FunctionDefinition) string {
	prefix := strings.TrimSuffix(abi.ExportMarker, strconv.Itoa(abi.Major))
	var others []string
	for name := range exports {
		number, ok := strings.CutPrefix(name, prefix)
		n, err := strconv.ParseUint(number, 10, 31)
		if ok && err == nil && strconv.FormatUint(n, 10) == number {
			others = append(others, number)
		}
	}
	if len(others) == 0 {
		return "the export " + abi.ExportMarker + ", which marks a plugin of outlast, is missing"
	}
	slices.Sort(others)
	return fmt.Sprintf("it speaks ABI %s, this host speaks ABI %d", strings.Join(others, " and "), abi.Major)
}

func checkExports(exports map[string]api.FunctionDefinition) (problems []string) {
	for _, e := range []struct{ name, want string }{
		{abi.ExportDescribe, "() -> i32"},
		{abi.ExportCheck, "() -> i32"},
		{abi.ExportDecide, "() -> i32"},
		{abi.ExportRun, "() -> i32"},
		{exportInit, "() -> ()"},
	} {
		if d := exports[e.name]; d == nil {
			problems = append(problems, "the export "+e.name+" is missing, or is no function")
		} else if got := signature(d); got != e.want {
			problems = append(problems, fmt.Sprintf("the export %s has the signature %s instead of %s", e.name, got, e.want))
		}
	}
	return problems
}

// maxProblems bounds how many imports an error lists (a choice).
const maxProblems = 8

// checkImports compares what the plugin imports with what the runtime's other
// modules have.
func (p *program) checkImports() (problems []string) {
	for _, m := range p.compiled.ImportedMemories() {
		module, name, _ := m.Import()
		problems = append(problems, fmt.Sprintf("it imports the memory %.64q.%.64q; this host provides functions only", module, name))
	}
	for _, d := range p.compiled.ImportedFunctions() {
		if problem := p.checkImport(d); problem != "" && !slices.Contains(problems, problem) {
			problems = append(problems, problem)
		}
	}
	if n := len(problems); n > maxProblems {
		problems = append(problems[:maxProblems], fmt.Sprintf("and %d imports more", n-maxProblems))
	}
	return problems
}

func (p *program) checkImport(d api.FunctionDefinition) string {
	moduleName, name, _ := d.Import()
	said := fmt.Sprintf("%.64q.%.64q", moduleName, name)
	var provided api.FunctionDefinition
	if moduleName == kernel.ModuleName {
		provided = kernel.Provided(p.kernel, name)
	} else if module := p.runtime.Module(moduleName); module != nil {
		provided = module.ExportedFunctionDefinitions()[name]
	}
	if provided == nil {
		return "it imports the function " + said + ", which this host does not provide"
	}
	if got, want := signature(d), signature(provided); got != want {
		return fmt.Sprintf("it imports the function %s with the signature %s instead of %s", said, got, want)
	}
	return ""
}
