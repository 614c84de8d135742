package policy

import "outlast/abi"

// WithMaxWait is the document with another window, in microseconds, for every
// budget that has one.
func (d *Document) WithMaxWait(micros int64) (*Document, error) {
	return d.with("max_wait", micros, func(b *Budget) bool {
		has := b.MaxWait > 0
		if has {
			b.MaxWait = micros
		}
		return has
	})
}

// WithSpread is the document with another spread, in microseconds, for every
// budget whose waits may be cut short. What bounds its growth is moved up to it.
func (d *Document) WithSpread(micros int64) (*Document, error) {
	return d.with("wake", micros, func(b *Budget) bool {
		if b.Wake == nil {
			return false
		}
		wake := *b.Wake
		wake.Spread = micros
		if wake.SpreadCap > 0 {
			wake.SpreadCap = max(wake.SpreadCap, micros)
		}
		b.Wake = &wake
		return true
	})
}

// with is the document with a duration in every budget that has what it is of.
func (d *Document) with(name string, micros int64, change func(*Budget) bool) (*Document, error) {
	changed := *d
	changed.Budgets = append([]Budget(nil), d.Budgets...)
	found := false
	for i := range changed.Budgets {
		found = change(&changed.Budgets[i]) || found
	}
	switch {
	case !found:
		return nil, &abi.Error{Code: abi.CodeInvalidPolicy, Field: "budgets", Message: "no budget has a " + name + " that could be changed"}
	case micros <= 0:
		return nil, &abi.Error{Code: abi.CodeInvalidPolicy, Field: name, Message: "expected a positive duration"}
	}
	// The normal form may be longer than the text it came from, which has been
	// bounded already.
	return ParseWithin(changed.normal())
}
