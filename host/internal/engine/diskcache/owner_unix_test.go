//go:build unix

package diskcache

import (
	"os"
	"testing"
)

func TestOwnerOfOurOwn(t *testing.T) {
	if err := supported(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if owner(info) != self() || self() != os.Geteuid() {
		t.Errorf("owner %d, this process %d", owner(info), self())
	}
	if got := owner(otherOwner{info}); got != -1 {
		t.Errorf("an unknown owner is %d", got)
	}
}
