package cgroup_test

import (
	"os"
	"os/exec"
	"syscall"
	"testing"

	"outlast/host/internal/cgroup"
	"outlast/internal/cgrouptest"
)

// A real group, where one can be made: this test again, within it.
func TestMemoryLeftOfARealGroup(t *testing.T) {
	const limit, within = 64 << 20, "OUTLAST_TEST_WITHIN_GROUP"
	if os.Getenv(within) == "" {
		group := cgrouptest.New(t, limit)
		again := exec.Command(os.Args[0], "-test.run=^TestMemoryLeftOfARealGroup$")
		again.Env = append(os.Environ(), within+"=1")
		group.Start(again)
		if out, err := again.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
		return
	}
	left, limited := cgroup.MemoryLeft(os.DirFS("/"))
	if !limited || left <= 0 || left > limit {
		t.Fatalf("%d, %t", left, limited)
	}
	// Of Go's own memory the race detector would take as much again, and more.
	block, err := syscall.Mmap(-1, 0, 16<<20, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(block)
	for i := range block {
		block[i] = 1
	}
	now, _ := cgroup.MemoryLeft(os.DirFS("/"))
	if now > left-12<<20 || now < left-24<<20 {
		t.Errorf("%d bytes were left, and %d once %d were taken", left, now, len(block))
	}
}
