package host

import (
	"github.com/acp-nvim/acp-nvim/host/freshness"
	"github.com/acp-nvim/acp-nvim/host/permission"
)

// newFreshness knows what the agent of a session knows of files.
func newFreshness(s *Session) *freshness.Files { return freshness.New(s.base, s.host.watching) }

// newPermission has the permission requests of a session.
func newPermission(s *Session) *permission.Requests {
	h := s.host
	return permission.New(s.base, permission.Config{
		ID:           func() int64 { return h.permissionIDs.Add(1) },
		Policy:       h.policy.Load,
		ReviewBefore: h.reviewBefore.Load,
		Diffs:        s.diffs,
		Known:        s.known,
		ToolCall:     s.conv.ToolCall,
		Apply:        s.apply,
		Ready:        func() bool { return s.phase == ready },
		Stopping:     func() bool { return s.prompts.Stopping() },
		Cancel:       s.cancel,
		Prompt:       func(text string) { s.prompts.First(text) },
		RemarkOnce:   s.remarkOnce,
		Alert:        s.alert,
		Asks:         s.prompts.Unsaved.ReadByAgent,
		Reads:        s.tracer.Read,
		Took:         s.ledger.Took,
		Wrote:        s.wrote,
		Edits:        s.tracer.Wrote,
	})
}
