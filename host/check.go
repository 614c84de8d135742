package host

import (
	"fmt"
	"time"

	"outlast/abi"
	"outlast/abi/strictjson"
)

// check finds what the plugin would refuse, before the first attempt is made.
func (t *Task) check() error {
	if t.Attempt == nil {
		return fmt.Errorf("outlast: task: Attempt is missing")
	}
	if err := t.checkLimits(); err != nil {
		return err
	}
	return t.Call.check()
}

func (c *Call) check() error {
	const most = strictjson.MaxInteger
	switch {
	case len(c.Label) > abi.MaxLabelBytes:
		return fmt.Errorf("outlast: call: Label is longer than %d bytes", abi.MaxLabelBytes)
	case c.Budget < 0 || c.Budget > 0 && c.Budget < time.Microsecond || micros(c.Budget) > most:
		return fmt.Errorf("outlast: call: Budget: expected 0 for none, or from 1 microsecond to 2^53-1 of them, not %v", c.Budget)
	case c.Seed != nil && (*c.Seed < 0 || *c.Seed > most):
		return fmt.Errorf("outlast: call: Seed: expected a number from 0 to 2^53-1, not %d", *c.Seed)
	}
	return nil
}
