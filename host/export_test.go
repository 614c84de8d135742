package host

// State is what a session has spent, for tests that compare or spoil it.
func (s *Session) State() *string { return &s.state }
