package host

import (
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/calldiff"
)

func newDiffs(s *Session) *calldiff.Diffs {
	return calldiff.New(s.base, calldiff.Config{
		Mark: s.mark,
		Found: func(call *session.ToolCall) {
			s.chat.TouchCall(call)
			if s.permission.Located(call) {
				s.base.Editor.Hurry(s)
			}
		},
		Idle: func() {
			if !s.prompts.TurnOpen() { // its end may have waited for the search
				s.base.Editor.Hurry(s)
			}
		},
	})
}

// locating reports whether the end of a turn waits for a search for changes.
func (s *Session) locating() bool { return s.phase != dead && s.diffs.Locating() }
