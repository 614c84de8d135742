package diskcache

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
)

// format is raised when the code that is kept under a key changes its meaning:
// with the layout of an entry, or the way in which the engine has it compiled.
const format = "outlast-cache-3"

// Digest is a plugin's, as Key wants it.
func Digest(wasm []byte) string {
	digest := sha256.Sum256(wasm)
	return hex.EncodeToString(digest[:])
}

// Key names the code of a plugin, which is known by its digest. Two keys are
// equal only if the code may be exchanged: the same Wasm, compiled by the same
// wazero for the same kind of processor. The error says why that cannot be known.
func Key(digest string) (string, error) {
	compiler, err := compilerID()
	if err != nil {
		return "", err
	}
	return key(digest, compiler, runtime.GOOS, runtime.GOARCH, cpuFeatures()), nil
}

func key(digest, compiler, system, processor string, features uint64) string {
	h := sha256.New()
	for _, part := range []string{format, digest, compiler, system, processor, fmt.Sprint(features)} {
		fmt.Fprintf(h, "%d:%s,", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// compilerID says which wazero this program was built with. Released versions
// are known by the checksum of their source. Where the build does not record
// that (a test, a local replacement), the program itself stands for it.
var compilerID = sync.OnceValues(func() (string, error) {
	if info, ok := debug.ReadBuildInfo(); ok {
		if id := moduleID(info.Deps, "github.com/tetratelabs/wazero"); id != "" {
			return id, nil
		}
	}
	id, err := programID()
	if err != nil {
		return "", errors.New("which wazero this program was built with cannot be told: " + err.Error())
	}
	return id, nil
})

func moduleID(modules []*debug.Module, path string) string {
	for _, m := range modules {
		if m.Path != path {
			continue
		}
		if m.Replace != nil {
			m = m.Replace
		}
		if m.Sum == "" {
			return ""
		}
		return m.Path + "@" + m.Version + " " + m.Sum
	}
	return ""
}

func programID() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return "program " + hex.EncodeToString(h.Sum(nil)), nil
}
