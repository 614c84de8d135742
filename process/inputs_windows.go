package process

// Inputs is empty on Windows, where a process inherits only what it is given.
type Inputs struct{}

// NewInputs sees to nothing here.
func NewInputs([]string, *Stdin) (*Inputs, error) { return nil, nil }

// Spent is nil.
func (*Inputs) Spent() error { return nil }

// Passed is nil.
func (*Inputs) Passed() error { return nil }

// Close does nothing.
func (*Inputs) Close() error { return nil }

func (*Inputs) attach(*flag) ([]*feed, error) { return nil, nil }
func (*Inputs) after()                        {}

func (c *Command) lend(*process) (kept bool, back func(), err error) {
	return false, func() {}, nil
}

func asAtStart(f func() error) error { return f() }
