//go:build unix

package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// Inputs is what attempts can read besides standard input: the descriptors from
// 3 up that this process has inherited, such as bash's <(…), and what the
// arguments name. Every attempt gets it whole, or Spent says why none can again:
//
//   - A pipe, named or not, is given through one of Inputs' own, as standard
//     input is: nothing of it is taken that no attempt has taken.
//   - A file is given at the place where it stood when NewInputs was called,
//     through a descriptor that only the attempt has: whoever shares it, such as a
//     shell's loop, can read on meanwhile. Afterwards it stands where the last
//     attempt left it, unless somebody else has moved it. (One that is locked
//     through this descriptor, can be written to, or cannot be opened again is
//     handed on, and is spent once its place has moved.)
//   - A pipe of which both ends are inherited, or that is open for reading and
//     writing, such as the jobserver of make, is a pool: it is handed on. It is
//     spent if less is in it than before; the jobserver, whose tokens are put back,
//     never is.
//   - A connected socket is handed on. It is spent after one attempt, unless what
//     it held is still there.
//   - A terminal, standard input's too, is handed on, and spent once something was
//     read from it while this process's group was in its foreground.
//   - A FIFO that an argument names, wherever in it, gives what is in it once: it
//     is spent after one attempt.
//
// Everything else, such as the null device or a socket that listens, is left alone.
// A process has one Inputs at a time: it changes what stands behind the numbers of
// inherited descriptors, which every process that this one starts gets.
type Inputs struct {
	given   []*given   // again to every attempt
	watched []watcher  // handed on
	opened  []*os.File // to look at
	spent   error
	output  error // what an attempt wrote there, another cannot take back
}

// given is an inherited descriptor whose number leads to something else while an
// attempt is started.
type given struct {
	number int
	real   *os.File // the same, under a number of this process
	input  *Stdin   // a pipe; nil: a file
	lent   *os.File // what the attempt gets
	start  int64    // the place in a file
}

// watcher looks at an input before and after an attempt.
type watcher interface {
	before()
	after() error // why the input cannot be given again
}

// NewInputs looks at what this process has inherited and at the arguments, the
// program's name not among them. To be called once, before an attempt. Errors
// are those of the system, such as EMFILE.
func NewInputs(args []string, stdin *Stdin) (*Inputs, error) {
	in := &Inputs{}
	numbers := inheritedFrom(3)
	for _, n := range numbers {
		if err := in.add(n, numbers); err != nil {
			return nil, errors.Join(fmt.Errorf("outlast: descriptor %d: %w", n, err), in.Close())
		}
	}
	if stdin != nil && stdin.kind == handedOn {
		answers(stdin.file, func(fd int) bool { in.watchTerminal(fd, "standard input"); return true })
	}
	for _, arg := range args {
		in.addNamed(arg)
	}
	return in, nil
}

func (in *Inputs) add(number int, all []int) error {
	var stat unix.Stat_t
	flags, err := unix.FcntlInt(uintptr(number), unix.F_GETFL, 0)
	if err != nil || unix.Fstat(number, &stat) != nil || flags&unix.O_ACCMODE == unix.O_WRONLY {
		return nil
	}
	name := "descriptor " + strconv.Itoa(number)
	switch stat.Mode & unix.S_IFMT {
	case unix.S_IFIFO:
		switch {
		case isJobserver(number, &stat):
		case flags&unix.O_ACCMODE == unix.O_RDWR || hasOtherEnd(&stat, number, all):
			in.watched = append(in.watched, &held{fd: number, name: name})
		default:
			return in.give(number, func(real *os.File) *Stdin { return &Stdin{file: real, kind: piped} })
		}
	case unix.S_IFSOCK:
		if !listens(number) {
			in.watched = append(in.watched, &held{fd: number, name: name, socket: true})
		}
	case unix.S_IFREG, unix.S_IFBLK:
		if flags&unix.O_ACCMODE == unix.O_RDONLY && !isLocked(number) {
			if again := openAgain(number); again != nil {
				again.Close()
				return in.give(number, nil)
			}
		}
		in.watched = append(in.watched, &placed{fd: number, name: name})
	case unix.S_IFCHR:
		in.watchTerminal(number, name)
	}
	return nil
}

// give makes it possible to have something else stand behind the number.
func (in *Inputs) give(number int, input func(*os.File) *Stdin) error {
	fd, err := unix.FcntlInt(uintptr(number), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return err
	}
	g := &given{number: number, real: os.NewFile(uintptr(fd), "descriptor "+strconv.Itoa(number))}
	if input != nil {
		g.input = input(g.real)
	} else {
		g.start, err = unix.Seek(fd, 0, io.SeekCurrent)
	}
	in.given = append(in.given, g)
	return err
}

// Spent says why no further attempt can have all that the last one could; nil: it
// can.
func (in *Inputs) Spent() error {
	if in == nil {
		return nil
	}
	for _, g := range in.given {
		if g.input != nil && g.input.lost != nil {
			return fmt.Errorf("descriptor %d cannot be given again: %w", g.number, g.input.lost)
		}
	}
	return in.spent
}

// Passed says why no attempt can follow one that may have printed: an argument
// names a pipe for its output, whose reader would have both. nil: none does.
func (in *Inputs) Passed() error {
	if in == nil {
		return nil
	}
	return in.output
}

// Close leaves each file where the last attempt left it, and removes copies.
func (in *Inputs) Close() (err error) {
	if in == nil {
		return nil
	}
	for _, g := range in.given {
		if g.input != nil {
			err = errors.Join(err, g.input.Close())
		} else {
			g.settle()
		}
		g.real.Close()
	}
	for _, f := range in.opened {
		f.Close()
	}
	in.given, in.watched, in.opened = nil, nil, nil
	return err
}

// attach prepares the inputs of the next attempt.
func (in *Inputs) attach(broken *flag) (feeds []*feed, err error) {
	if in == nil {
		return nil, nil
	}
	if err := in.Spent(); err != nil {
		return nil, err
	}
	for _, g := range in.given {
		f, err := g.attach(broken)
		if err != nil {
			return feeds, fmt.Errorf("descriptor %d cannot be given again: %w", g.number, plain(err))
		}
		feeds = append(feeds, f)
	}
	for _, w := range in.watched {
		w.before()
	}
	return feeds, nil
}

func (g *given) attach(broken *flag) (*feed, error) {
	if g.input != nil {
		f, err := g.input.attach(broken)
		if err == nil {
			g.lent = f.child
		}
		return f, err
	}
	fresh := openAgain(g.number)
	if fresh == nil {
		return nil, errors.New("it cannot be opened again")
	}
	if _, err := fresh.Seek(g.start, io.SeekStart); err != nil {
		return nil, errors.Join(err, fresh.Close())
	}
	if g.lent != nil {
		g.lent.Close()
	}
	g.lent = fresh
	return &feed{}, nil
}

// settle moves the file to where the last attempt left it.
func (g *given) settle() {
	if g.lent == nil {
		return
	}
	defer g.lent.Close()
	left, err := g.lent.Seek(0, io.SeekCurrent)
	if err != nil {
		return
	}
	answers(g.real, func(fd int) bool {
		now, err := unix.Seek(fd, 0, io.SeekCurrent)
		if err == nil && now == g.start {
			_, err = unix.Seek(fd, left, io.SeekStart)
		}
		return err == nil
	})
}

// after looks at what was handed on, once an attempt is over.
func (in *Inputs) after() {
	if in == nil {
		return
	}
	for _, w := range in.watched {
		if err := w.after(); err != nil && in.spent == nil {
			in.spent = err
		}
	}
}

// lend puts what the attempt shall have behind the numbers of what was inherited,
// for as long as it is started, and says whether Keep's files are among it.
func (c *Command) lend(*process) (kept bool, back func(), err error) {
	var undo []func()
	back = func() {
		for _, f := range undo {
			f()
		}
	}
	if c.Inputs != nil {
		for _, g := range c.Inputs.given {
			if err := over(g.lent, g.number); err != nil {
				return false, back, err
			}
			undo = append(undo, func() { _ = over(g.real, g.number) })
		}
	}
	if !slices.ContainsFunc(inheritedFrom(3), func(n int) bool { return n < 3+len(c.Keep) }) {
		return false, back, nil
	}
	for _, f := range c.Keep {
		copied := -1
		answers(f, func(fd int) bool {
			copied, err = unix.FcntlInt(uintptr(fd), unix.F_DUPFD, 3)
			return true
		})
		if err != nil || copied < 0 {
			return false, back, errors.Join(errors.New("a file that it shall keep cannot be given"), err)
		}
		undo = append(undo, func() { unix.Close(copied) })
	}
	return true, back, nil
}

// over makes the number lead to f, for what this process starts too.
func over(f *os.File, number int) (err error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	return errors.Join(raw.Control(func(fd uintptr) { err = dupOver(int(fd), number) }), err)
}
