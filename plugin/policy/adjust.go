package policy

import "outlast/abi"

// WithMaxWait is the document with another window, in microseconds, for every
// budget that has one.
func (d *Document) WithMaxWait(micros int64) (*Document, error) {
	changed := *d
	changed.Budgets = append([]Budget(nil), d.Budgets...)
	found := false
	for i := range changed.Budgets {
		if changed.Budgets[i].MaxWait > 0 {
			changed.Budgets[i].MaxWait = micros
			found = true
		}
	}
	switch {
	case !found:
		return nil, &abi.Error{Code: abi.CodeInvalidPolicy, Field: "budgets", Message: "no budget has a max_wait that could be changed"}
	case micros <= 0:
		return nil, &abi.Error{Code: abi.CodeInvalidPolicy, Field: "max_wait", Message: "expected a positive duration"}
	}
	// The normal form may be longer than the text it came from, which has been
	// bounded already.
	return ParseWithin(changed.normal())
}
