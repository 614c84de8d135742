package diskcache

import (
	"runtime"
	"testing"
)

func TestCPUFeaturesBelongToThisProcessor(t *testing.T) {
	allowed := map[string]uint64{"amd64": 0b0111, "arm64": 0b1000}[runtime.GOARCH]
	if got := cpuFeatures(); got&^allowed != 0 {
		t.Errorf("features %04b on %s", got, runtime.GOARCH)
	}
}
