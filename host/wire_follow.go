package host

import "github.com/acp-nvim/acp-nvim/host/follow"

// newFollowWindow makes the window that follows the agents of all sessions.
func newFollowWindow(h *Host) *follow.Window {
	return follow.NewWindow(follow.WindowConfig{
		Editor: h.editor, Files: h.files, Background: h.background,
		Title: func(session int) string {
			if s := h.session(session); s != nil {
				return s.base.Title
			}
			return ""
		},
	})
}

// newTracer has a session say where its agent works. A replay tells what was.
func newTracer(s *Session) *follow.Tracer {
	return follow.NewTracer(s.base, s.host.follow, func() bool { return s.phase == ready && !s.remote.skipping })
}
