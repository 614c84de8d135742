package journal

// State is what a record says of its write.
type State string

// The states of a write.
const (
	UnderWay   State = "under_way"   // somebody holds its lock
	InDoubt    State = "in_doubt"    // it may have been applied
	Applied    State = "applied"     // it succeeded, or a person has seen that it was applied
	NotApplied State = "not_applied" // nothing was sent, or a person has seen that it was not applied
	Damaged    State = "damaged"     // the file cannot be read, which is a doubt too
)

// stateOf is what a file's records come to, whoever holds its lock. An attempt
// counts as one that may have had effects until something says otherwise, and
// only what is said of it itself, of its whole run or by a person does.
func stateOf(records []record) State {
	before, run := false, map[int64]bool{} // earlier runs, and this one's attempts, that are in doubt
	applied := false
	for i := range records {
		r := &records[i]
		switch r.Record {
		case aRun:
			before, run = before || anyIn(run), map[int64]bool{}
		case anAttempt:
			run[r.Attempt], applied = true, false
		case anEnd:
			run[r.Attempt] = r.Effects != effectsNone
		case anOutcome:
			switch {
			case r.Outcome == outcomeOK:
				applied, before, run = true, false, map[int64]bool{}
			case r.Effects == effectsNone:
				run = map[int64]bool{}
			default:
				run[0] = true // whatever became of its attempts
			}
		case aVerdict:
			applied, before, run = *r.Applied, false, map[int64]bool{}
		}
	}
	switch {
	case before || anyIn(run):
		return InDoubt
	case applied:
		return Applied
	}
	return NotApplied
}

func anyIn(set map[int64]bool) bool {
	for _, in := range set {
		if in {
			return true
		}
	}
	return false
}
