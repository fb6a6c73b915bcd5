package host

import (
	"github.com/acp-nvim/acp-nvim/host/events"
)

func newEvents(s *Session) *events.Queue {
	return events.New(events.Config{
		Session:  s.id,
		Listed:   s.calls.Listed,
		Drawn:    func() bool { return !s.chat.Dirty() && !s.locating() },
		Recorded: func(end int) bool { return s.ledger.Told(end) },
	})
}
