package wasmfile

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"outlast/abi"
)

// AbiError says why a Wasm file is not a plugin that this host can run.
type AbiError struct {
	Problems []string // each one a sentence without its full stop
}

func (e *AbiError) Error() string {
	return "outlast: checking a plugin: " + strings.Join(e.Problems, "; ")
}

// exportInit is called once in each new instance. Go's c-shared build mode
// makes it.
const exportInit = "_initialize"

// Signatures of a plugin's exports.
const (
	signatureCall = "() -> i32"
	signatureInit = "() -> ()"
)

// Verify says whether the file is a plugin of this host's ABI, without
// compiling it. The error is a *FormatError for what is not a whole Wasm file,
// else an *AbiError with everything that is wrong.
//
// A file that was cut exactly between its code and its data still looks whole,
// for a module need not have data; nothing short of its digest can tell.
func Verify(wasm []byte) error {
	m, err := Parse(wasm)
	if err != nil {
		return err
	}
	exports := map[string]Export{}
	for _, e := range m.Exports {
		exports[e.Name] = e
	}
	marker, ok := exports[abi.ExportMarker]
	if !ok {
		return &AbiError{Problems: []string{noMarker(m.Exports)}}
	}
	var problems []string
	if marker.Kind != Func {
		problems = append(problems, fmt.Sprintf("the export %s is a %s, not a function", marker.Name, marker.Kind))
	}
	problems = append(problems, checkExports(exports)...)
	problems = append(problems, checkImports(m.Imports)...)
	if len(problems) > 0 {
		return &AbiError{Problems: problems}
	}
	return nil
}

// markerPrefix begins the marker of each version of the ABI.
var markerPrefix = strings.TrimSuffix(abi.ExportMarker, strconv.Itoa(abi.Major))

// noMarker explains the missing marker, by another version's if there is one.
func noMarker(exports []Export) string {
	var others []string
	for _, e := range exports {
		number, ok := strings.CutPrefix(e.Name, markerPrefix)
		n, err := strconv.ParseUint(number, 10, 31)
		if ok && err == nil && strconv.FormatUint(n, 10) == number {
			others = append(others, number)
		}
	}
	if len(others) == 0 {
		return "the export " + abi.ExportMarker + ", which marks a plugin of outlast, is missing"
	}
	return fmt.Sprintf("it speaks ABI %s, this host speaks ABI %d", strings.Join(others, " and "), abi.Major)
}

func checkExports(exports map[string]Export) []string {
	var problems []string
	for _, name := range []string{abi.ExportDescribe, abi.ExportCheck, abi.ExportDecide, abi.ExportRun} {
		problems = append(problems, checkExport(exports, name, signatureCall)...)
	}
	return append(problems, checkExport(exports, exportInit, signatureInit)...)
}

func checkExport(exports map[string]Export, name, want string) []string {
	e, ok := exports[name]
	switch {
	case !ok:
		return []string{"the export " + name + " is missing"}
	case e.Kind != Func:
		return []string{fmt.Sprintf("the export %s is a %s, not a function", name, e.Kind)}
	case e.Type.String() != want:
		return []string{fmt.Sprintf("the export %s has the signature %s instead of %s", name, e.Type, want)}
	}
	return nil
}

// maxProblems bounds how many imports an error lists (a choice).
const maxProblems = 8

func checkImports(imports []Import) []string {
	var problems []string
	for _, i := range imports {
		if p := checkImport(i); p != "" && !slices.Contains(problems, p) {
			problems = append(problems, p)
		}
	}
	if n := len(problems); n > maxProblems {
		problems = append(problems[:maxProblems], fmt.Sprintf("and %d imports more", n-maxProblems))
	}
	return problems
}

func checkImport(i Import) string {
	name := fmt.Sprintf("%q.%q", clip(i.Module), clip(i.Name))
	if i.Kind != Func {
		return fmt.Sprintf("it imports the %s %s; this host provides functions only", i.Kind, name)
	}
	want, ok := provided[i.Module][i.Name]
	switch {
	case !ok:
		return "it imports the function " + name + ", which this host does not provide"
	case i.Type.String() != want:
		return fmt.Sprintf("it imports the function %s with the signature %s instead of %s", name, i.Type, want)
	}
	return ""
}
