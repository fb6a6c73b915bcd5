package host

import (
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/diff"
)

// files are the changes that a call tells of, in its order, as much as is known
// of them now: before a change is located in its file (see [Session.whenLocated])
// it is what the agent told. Paths are the agent's. Only for the session's
// goroutine; the slice is the caller's, what is in it is shared and never changes.
func (s *Session) files(call *session.ToolCall) []diff.File {
	var files []diff.File
	for _, item := range call.Content {
		if d, ok := item.(session.Diff); ok {
			files = append(files, diff.Told(d))
		}
	}
	return files
}

// whenLocated calls then once, on the session's goroutine, when all changes that
// the call has now were looked for in their files: at once where nothing is
// awaited. It is not called when the session is closed before. Only for the
// session's goroutine.
func (s *Session) whenLocated(call *session.ToolCall, then func()) { then() }
