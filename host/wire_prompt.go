package host

import (
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/freshness"
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
		Knows: func(path, text string) { s.known.Note(path, freshness.Fingerprint(text)) },
		Shares: func(name, real string) bool {
			a := s.permission.FileAccess(session.KindRead, rules.Path{Given: name, Real: real})
			return !a.Outside && !a.Private
		},
		Begin:  s.begin,
		Again:  s.work,
		Steer:  s.steer,
		Cancel: s.cancel,
	})
}

// hearUnsaved tells all sessions of the buffers with unsaved text.
func (h *Host) hearUnsaved(m rpc.UnsavedFiles) {
	names := make([]string, len(m.Files))
	for i, b := range m.Files {
		names[i] = b.Name
	}
	h.eachSession(func(s *Session) {
		s.base.Box.Put(func() {
			s.permission.HearUnsaved(names)
			s.prompts.Unsaved.Hear(m.Files)
		})
	})
}
