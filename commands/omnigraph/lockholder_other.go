//go:build !linux

package omnigraph

import "os"

func holderOf(*os.File) Holder { return Holder{} }

func holderAbove(*os.File) (Holder, bool) { return Holder{}, false }
