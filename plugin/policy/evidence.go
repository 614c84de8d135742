package policy

import "outlast/abi"

// evident says whether what a write's attempt printed can prove that it had no
// effects; c is what recognised its failure. A document that reads the program's
// account believes nothing but that account, a condition that is a proof by
// itself, or a whole report of a release that gives no account. Another document
// believes its rules, and so does each of an HTTP exchange, whose status no text
// can forge.
func (d *decision) evident(c *Condition) bool {
	v := d.view
	return d.doc.Account != AccountOutcome || !v.printed() || v.effects == abi.EffectsNone ||
		c != nil && c.Proof != "" || v.effects == "" && v.whole
}
