package host

import (
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/diff"
	"github.com/acp-nvim/acp-nvim/host/diffview"
	"github.com/acp-nvim/acp-nvim/host/rpc"
)

// tellDiff answers Lua's question for a call's diff: what is known of its files, and the text of one of them, in pieces
// that come before the answer. The answer is nil if there is no diff.
func (s *Session) tellDiff(m rpc.ShowDiff) {
	call := s.diffCall(m)
	if call == nil {
		s.base.Editor.Answer(m.Callback, nil, "")
		return
	}
	call = s.permission.Subject(call)
	if m.Anew {
		s.permission.LookAgain(call, func() { s.tellDiffOf(call, m) })
		return
	}
	s.tellDiffOf(call, m)
}

// tellDiffOf answers Lua's question for the diff of a call, once that is located.
func (s *Session) tellDiffOf(call *session.ToolCall, m rpc.ShowDiff) {
	id := m.Callback
	s.diffs.WhenLocated(call, func() {
		files := s.diffs.Files(call)
		if len(files) == 0 { // the agent has replaced it since
			s.base.Editor.Answer(id, nil, "")
			return
		}
		at := min(max(1, m.File), len(files))
		answer := rpc.Diff{Call: call.ID, At: at, Files: s.fileList(files)}
		answer.Permission = s.permission.About(call)
		done := call.Status == session.StatusCompleted && answer.Permission == 0
		f := files[at-1]
		answer.Before, answer.After = diffview.Labels(f, done, s.base.Short)
		answer.Path, _ = s.base.Absolute(f.Path)
		answer.Note, answer.Looked = f.Note, s.diffs.Changes(call)[at-1].Looked
		s.base.Background(func() {
			v := diffview.Of(f, m.Form)
			answer.Form, answer.First, answer.Hunks = v.Form, v.First, v.Hunks
			answer.OldLines, answer.NewLines = v.OldLines, v.NewLines
			diffview.Send(s.base.Editor, s.base.Log, id, v.Pieces, answer)
		})
	})
}

// diffCall is the call whose diff is meant: one by its id, that of an open
// request, the one at a row of the chat, or the last that has a diff.
func (s *Session) diffCall(m rpc.ShowDiff) *session.ToolCall {
	var call *session.ToolCall
	switch {
	case m.Call != "":
		call = s.conv.ToolCall(m.Call)
	case m.Permission != 0:
		call = s.permission.Call(m.Permission)
	case m.Row != nil:
		call, _ = s.chat.Entry(*m.Row).(*session.ToolCall)
	default:
		for _, c := range s.conv.Calls {
			if len(s.diffs.Of(c)) > 0 {
				call = c
			}
		}
	}
	if call == nil || len(s.diffs.Of(call)) == 0 {
		return nil
	}
	return call
}

func (s *Session) fileList(files []diff.File) []rpc.DiffFile {
	list := make([]rpc.DiffFile, len(files))
	for i, f := range files {
		list[i] = rpc.DiffFile{Name: s.base.Short(f.Path), Added: f.Added, Removed: f.Removed}
	}
	return list
}
