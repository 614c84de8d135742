// Command mutation checks the policy's tests. It makes one small change to the
// policy after another, such as > for >= or a marker left out, and wants
// go test ./plugin/policy/... to fail each time: a change that no test notices
// could be made by mistake.
//
//	go run ./tests/mutation          # some minutes on two cores
//	go run ./tests/mutation -list    # the changes
//	go run ./tests/mutation -only X  # those whose file, change or reason has X
//
// Where every one is found out, the source's digest goes into proof.sha256, which
// go test ./tests/mutation compares: who changes the policy or its tests runs this.
//
// The files themselves are never touched: changed copies stand in for them by
// go test's -overlay.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// atOnce is how many mutants are tried side by side (a choice: CI has two cores).
const atOnce = 2

func main() {
	list := flag.Bool("list", false, "list the mutants and leave")
	only := flag.String("only", "", "try only mutants whose file, change or reason has this text")
	flag.Parse()
	if err := mainE(*list, *only); err != nil {
		fmt.Fprintln(os.Stderr, "mutation:", err)
		os.Exit(1)
	}
}

func mainE(list bool, only string) error {
	chosen := choose(only)
	if len(chosen) == 0 {
		return fmt.Errorf("no mutant has %q in its file, change or reason; -list shows them", only)
	}
	if list {
		for _, m := range chosen {
			fmt.Println(m.title())
		}
		return nil
	}
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "outlast-mutation-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := testPasses(root); err != nil {
		return err
	}
	if failed := tryAll(chosen, root, dir); failed > 0 {
		return fmt.Errorf("%d of %d mutants were not found out", failed, len(chosen))
	}
	if only != "" {
		return nil
	}
	sum, err := digest(root)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, proofFile), []byte(sum), 0o666)
}

func choose(only string) []mutant {
	var chosen []mutant
	for _, m := range mutants {
		if strings.Contains(m.title(), only) {
			chosen = append(chosen, m)
		}
	}
	return chosen
}

// tryAll tries the mutants, prints a line for each, and counts those that no
// test found out.
func tryAll(chosen []mutant, root, dir string) (failed int) {
	var lock sync.Mutex
	var group sync.WaitGroup
	begin, slots := time.Now(), make(chan struct{}, atOnce)
	for i, m := range chosen {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			start := time.Now()
			verdict := m.try(root, fmt.Sprintf("%s/%d", dir, i))
			lock.Lock()
			defer lock.Unlock()
			if verdict != nil {
				failed++
				fmt.Printf("FAILED %s: %v\n", m.title(), verdict)
			} else {
				fmt.Printf("passed %s (%.1f s)\n", m.title(), time.Since(start).Seconds())
			}
		})
	}
	group.Wait()
	fmt.Printf("%d passed, %d failed in %.0f s\n", len(chosen)-failed, failed, time.Since(begin).Seconds())
	return failed
}
