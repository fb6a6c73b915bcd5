package host

import "github.com/acp-nvim/acp-nvim/host/terminals"

// newTerminals opens the terminals of a session.
func newTerminals(s *Session) *terminals.Set {
	return terminals.New(terminals.Config{
		Base:   s.base,
		Ready:  func() bool { return s.phase == ready },
		Worked: func() { s.ledger.Worked() },
		Mark: func(urgent bool) {
			if urgent {
				s.urgent.Store(true)
			}
			s.mark()
		},
	})
}
