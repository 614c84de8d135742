package process

import (
	"os"

	"outlast/process/procfs"
)

// rest is what still runs of all that the attempt's process has started, itself
// not counted: its descendants, its group with theirs, and, where orphans
// become this process's children, those and theirs. It reaps those orphans that have
// ended.
func (p *process) rest() []int {
	all := procfs.All()
	children := map[int][]procfs.Process{}
	for _, c := range all {
		children[c.Parent] = append(children[c.Parent], c)
	}
	roots := children[p.pid()]
	if p.group {
		for _, c := range all {
			if c.Group == p.pid() {
				roots = append(roots, c)
			}
		}
	}
	roots = append(roots, p.orphans(children[os.Getpid()])...)

	var left []int
	seen := map[int]bool{p.pid(): true, os.Getpid(): true}
	for len(roots) > 0 {
		c := roots[0]
		roots = roots[1:]
		if seen[c.PID] {
			continue
		}
		seen[c.PID] = true
		if c.Runs() {
			left = append(left, c.PID)
		}
		roots = append(roots, children[c.PID]...)
	}
	return left
}

// orphans is those of this process's children that the attempt's process has left
// behind: they began after it, and nobody in this program has started them. While
// another attempt runs, nobody can tell whose they are.
func (p *process) orphans(children []procfs.Process) []procfs.Process {
	if !adopts() || running.others(p.pid()) {
		return nil
	}
	var mine []procfs.Process
	waited := waitedFor()
	for _, c := range children {
		later := c.Started > p.begun || c.Started == p.begun && c.PID > p.pid()
		if !later || running.has(c.PID) || waited[c.PID] {
			continue
		}
		mine = append(mine, c)
		if c.State == 'Z' {
			reap(c.PID)
		}
	}
	return mine
}

// holders is those of the rest that hold a pipe of the attempt's output.
func (p *process) holders() []int {
	pipes := map[string]bool{}
	for _, s := range []*stream{p.stdout, p.stderr} {
		if name := nameOf(s.source); name != "" {
			pipes[name] = true
		}
	}
	var found []int
	for _, pid := range p.rest() {
		if holds(pid, pipes) {
			found = append(found, pid)
		}
	}
	return found
}

func ticksNow() int64 { return procfs.TicksNow() }
