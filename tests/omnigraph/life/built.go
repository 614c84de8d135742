package life

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// Main runs a package's tests once the tool, the stand-in for omnigraph and its
// server are built: in a folder of which built is told. It gives the exit code.
func Main(m *testing.M, built *string) int {
	dir, err := os.MkdirTemp("", "outlast-built-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	build := exec.Command("go", "build", "-o", dir+"/", "outlast/cmd/outlast", "outlast/tests/omnigraph/omnigraph", "outlast/tests/omnigraph/omnigraph-server")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v\n%s", err, out)
		return 1
	}
	*built = dir
	return m.Run()
}
