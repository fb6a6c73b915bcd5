package host

import (
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/prompt"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/rules"
)

// newPrompts opens the prompts of a session.
func newPrompts(s *Session) *prompt.Prompts {
	return prompt.New(prompt.Config{
		Base:  s.base,
		Ready: func() bool { return s.phase == ready },
		Dead:  func() (string, bool) { return s.failure, s.phase == dead },
		Agent: func() session.Info { return s.info },
		Knows: func(path, text string) { s.know(path, fingerprint(text)) },
		Shares: func(name, real string) bool {
			p := s.accessOf(session.KindRead, rules.Path{Given: name, Real: real})
			return !p.outside && !p.private
		},
		Begin:  s.begin,
		Again:  s.work,
		Steer:  s.steer,
		Cancel: s.cancel,
	})
}

// hearUnsaved tells all sessions of the buffers with unsaved text.
func (h *Host) hearUnsaved(m rpc.UnsavedFiles) {
	h.eachSession(func(s *Session) {
		s.base.Box.Put(func() {
			for _, p := range s.permissions.asked {
				s.findStale(p)
				s.hearHeld(p, m.Files)
			}
			s.prompts.Unsaved.Hear(m.Files)
		})
	})
}
